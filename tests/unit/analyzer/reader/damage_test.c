/* SPDX-License-Identifier: Apache-2.0 */
/* For any damage of the bytes: the numbers are exact, or a warning says that they are not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "tests/unit/common/draw.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

static char folder[64], path[128];
static struct sp_maker m;
static struct sp_load load;

static void setup(void)
{
	sp_folder_make(folder);
	snprintf(path, sizeof(path), "%s/t.zst", folder);
}

static void teardown(void)
{
	sp_folder_remove(folder);
}

static void put(const void *bytes, size_t n)
{
	ck_assert_int_eq(sp_maker_write(folder, "t.zst", bytes, n), 0);
}

#ifdef __SANITIZE_ADDRESS__
#define STRIDE 97 /* slow: each case makes fresh pages; 97 meets every place of a field */
#else
#define STRIDE 1
#endif
#define BLOCKS 5
static size_t block_ends[BLOCKS];
static uint64_t events_in[BLOCKS];
static size_t window_at;
static uint64_t window_first, window_slots;

static void add_reads(int n)
{
	for (int i = 1; i <= n; i++)
		sp_maker_event(&m, SP_EV_read, 1, (uint64_t)i * 100, i);
}

/* A killed thread's file: blocks, free space and a window. */
static void make_killed(void)
{
	uint64_t events = 0;

	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/a.jpg");
	for (int i = 0; i < BLOCKS; i++) {
		add_reads(10 + i);
		events += 10 + (uint64_t)i;
		if (i == 2)
			sp_maker_jpeg(&m, 500, 64, 64, SP_DECODE_FINISHED);
		events += i == 2;
		sp_maker_block(&m, 0);
		block_ends[i] = m.size;
		events_in[i] = events;
	}
	sp_maker_free(&m, 512, 0x5A);
	window_first = m.first_index;
	window_slots = 40;
	add_reads(40);
	window_at = sp_maker_window(&m, 256);
}

static char *print_all(void)
{
	return sp_load_print(&load, "stages", SP_FORMAT_JSON);
}

/* The block's zstd frame, without the pad after it, is enough. */
static uint64_t expected_events(size_t cut, const size_t *zstd_ends)
{
	uint64_t events = 0;

	for (int i = 0; i < BLOCKS; i++)
		if (cut >= zstd_ends[i])
			events = events_in[i];
	for (uint64_t i = 0; i < window_slots; i++) {
		size_t position = (size_t)((window_first + i) % 256);

		events += cut >= window_at + SP_WINDOW_HEAD_BYTES +
					 (position + 1) * sizeof(struct sp_slot);
	}
	return events;
}

static void find_zstd_ends(size_t *ret)
{
	size_t at = SP_HEADER_FRAME_BYTES;

	for (int i = 0; i < BLOCKS; i++) {
		struct sp_block_header b;

		memcpy(&b, m.bytes + at, sizeof(b));
		ret[i] = at + sizeof(b) + b.zstd_bytes;
		at = block_ends[i];
	}
}

START_TEST(cut_at_every_byte)
{
	size_t zstd_ends[BLOCKS];

	make_killed();
	find_zstd_ends(zstd_ends);
	for (size_t cut = 0; cut <= m.size; cut += STRIDE) {
		put(m.bytes, cut);
		sp_load_one(&load, path);
		ck_assert_msg(load.report.totals.events == expected_events(cut, zstd_ends),
			      "cut at %zu: %llu events, not %llu", cut,
			      (unsigned long long)load.report.totals.events,
			      (unsigned long long)expected_events(cut, zstd_ends));
		ck_assert_msg(load.complaints == (cut != m.size), "cut at %zu: %u complaints", cut,
			      load.complaints);
		sp_load_finish(&load);
	}
	sp_maker_finish(&m);
}
END_TEST

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	return sp_draw(&state);
}

static void flip_bits(int flips)
{
	char *expected;
	int silent = 0, told = 0;

	put(m.bytes, m.size);
	sp_load_one(&load, path);
	ck_assert_uint_eq(load.complaints, 0);
	expected = print_all();
	sp_load_finish(&load);
	for (int i = 0; i < flips; i++) {
		size_t at = draw() % m.size;
		uint8_t bit = (uint8_t)(1 << draw() % 8);
		char *got;

		m.bytes[at] ^= bit;
		put(m.bytes, m.size);
		sp_load_one(&load, path);
		got = print_all();
		if (load.complaints == 0)
			ck_assert_msg(strcmp(got, expected) == 0,
				      "a flip at %zu, bit %d changed the numbers in "
				      "silence:\n%s\n%s",
				      at, bit, expected, got);
		silent += load.complaints == 0;
		told += load.complaints != 0;
		free(got);
		sp_load_finish(&load);
		m.bytes[at] ^= bit;
	}
	/* most bytes matter; free space, reserved words and empty slots do not */
	ck_assert_int_gt(told, flips / 4);
	ck_assert_int_gt(silent, 0);
	free(expected);
}

START_TEST(bits_flip_in_a_killed_threads_file)
{
	make_killed();
	flip_bits(5000 / STRIDE);
	sp_maker_finish(&m);
}
END_TEST

/* With free space and no window after the last block, in a file of several streams. */
START_TEST(bits_flip_in_a_concatenation)
{
	struct sp_maker all;

	sp_maker_init(&all, 1, 1, 0);
	for (uint32_t i = 0; i < 3; i++) {
		sp_maker_init(&m, 10, 10 + i, 0);
		sp_maker_header(&m);
		sp_maker_file(&m, 1 + i, SP_FILE_REGULAR, "/data/a.jpg");
		add_reads(20);
		sp_maker_block(&m, 0);
		add_reads(20);
		sp_maker_block(&m, SP_BLOCK_LAST);
		sp_maker_append(&all, m.bytes, m.size);
		sp_maker_finish(&m);
	}
	m = all;
	flip_bits(5000 / STRIDE);
	sp_maker_finish(&m);
}
END_TEST

/* No frame turns into another kind, or one of another length, in silence. */
static void flip_head_at(size_t frame_at)
{
	char *expected;

	put(m.bytes, m.size);
	sp_load_one(&load, path);
	expected = print_all();
	sp_load_finish(&load);
	for (size_t bit = 0; bit < 64; bit++) {
		char *got;

		m.bytes[frame_at + bit / 8] ^= (uint8_t)(1 << bit % 8);
		put(m.bytes, m.size);
		sp_load_one(&load, path);
		got = print_all();
		if (load.complaints == 0)
			ck_assert_str_eq(got, expected);
		free(got);
		sp_load_finish(&load);
		m.bytes[frame_at + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(expected);
}

START_TEST(every_bit_of_every_frames_head)
{
	make_killed();
	flip_head_at(0);
	flip_head_at(SP_HEADER_FRAME_BYTES);
	flip_head_at(block_ends[1]);
	flip_head_at(block_ends[BLOCKS - 1]);
	flip_head_at(window_at);
	sp_maker_finish(&m);
}
END_TEST

START_TEST(damage_costs_only_its_block)
{
	make_killed();
	m.bytes[block_ends[1] + SP_BLOCK_FRAME_BYTES + 20] ^= 1;
	put(m.bytes, m.size);
	sp_load_one(&load, path);
	ck_assert_uint_eq(load.complaints, 1);
	ck_assert_uint_eq(load.report.totals.events,
			  events_in[BLOCKS - 1] + window_slots - (events_in[2] - events_in[1]));
	ck_assert_uint_eq(load.report.totals.missing,
			  14); /* 12 reads, an image and its EXTRA slot */
	ck_assert_ptr_nonnull(strstr(load.last_complaint, "damaged block at offset"));
	sp_load_finish(&load);
	sp_maker_finish(&m);
}
END_TEST

/* 4 GiB of zeros in a good frame, in a block whose hashes are right. */
START_TEST(a_bomb_is_refused)
{
	uint8_t *zeros = calloc(1, 1 << 20), *zstd;
	size_t bytes;

	zstd = sp_maker_compress(zeros, 1 << 20, &bytes);
	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	sp_maker_block_raw(&m, zstd, bytes, 4096, SP_PAYLOAD_BYTES_MAX);
	add_reads(3);
	sp_maker_block(&m, SP_BLOCK_LAST);
	put(m.bytes, m.size);
	sp_load_one(&load, path);
	ck_assert_uint_eq(load.report.totals.events, 3);
	ck_assert_uint_eq(load.report.totals.missing, 4096);
	ck_assert_uint_eq(load.complaints, 1);
	sp_load_finish(&load);
	sp_maker_finish(&m);
	free(zeros);
	free(zstd);
}
END_TEST

START_TEST(a_payload_of_nonsense_is_refused)
{
	for (int i = 0; i < 500; i++) {
		uint8_t junk[300], *zstd;
		size_t bytes, n = draw() % sizeof(junk);

		for (size_t k = 0; k < n; k++)
			junk[k] = (uint8_t)draw();
		zstd = sp_maker_compress(junk, n, &bytes);
		sp_maker_init(&m, 10, 10, 0);
		sp_maker_header(&m);
		sp_maker_block_raw(&m, zstd, bytes, (uint32_t)(draw() % 4097), (uint32_t)n);
		put(m.bytes, m.size);
		sp_load_one(&load, path);
		ck_assert_uint_eq(load.report.totals.events, 0);
		ck_assert_uint_eq(load.complaints, 1);
		sp_load_finish(&load);
		sp_maker_finish(&m);
		free(zstd);
	}
}
END_TEST

static void assert_refused(const char *what)
{
	sp_load_one(&load, path);
	ck_assert_uint_eq(load.complaints, 1);
	ck_assert_msg(strstr(load.last_complaint, what) != NULL, "%s", load.last_complaint);
	ck_assert(!sp_run_has_trace(&load.report.run));
	sp_load_finish(&load);
}

START_TEST(other_files_are_refused)
{
	static const char text[] = "These bytes are no trace, and they are longer than a frame's "
				   "head.";
	uint8_t *zstd;
	size_t bytes;

	put("", 0);
	assert_refused("is empty");
	put(text, sizeof(text));
	assert_refused("is no trace of stageprof");
	put(text, 3);
	assert_refused("is no trace of stageprof");
	zstd = sp_maker_compress(text, sizeof(text), &bytes);
	put(zstd, bytes);
	assert_refused("zstd data that is no block");
	free(zstd);
	remove(path);
	sp_load_one(&load, path);
	ck_assert_ptr_nonnull(strstr(load.last_complaint, "No such file"));
	sp_load_finish(&load);
}
END_TEST

START_TEST(a_newer_version_is_named)
{
	make_killed();
	((struct sp_file_header *)m.bytes)->version = SP_FORMAT_VERSION + 1;
	((struct sp_file_header *)m.bytes)->header_hash =
		XXH64(m.bytes, offsetof(struct sp_file_header, header_hash), 0);
	put(m.bytes, SP_HEADER_FRAME_BYTES);
	assert_refused("version 3; this program reads version 2");
	sp_maker_finish(&m);
}
END_TEST

/* A run that programs of two versions wrote: our part is reported,
 * with a note that it is not all. */
START_TEST(files_of_two_versions_in_a_run)
{
	uint64_t events;
	char *text;

	make_killed();
	put(m.bytes, m.size);
	((struct sp_file_header *)m.bytes)->version = SP_FORMAT_VERSION + 1;
	((struct sp_file_header *)m.bytes)->header_hash =
		XXH64(m.bytes, offsetof(struct sp_file_header, header_hash), 0);
	ck_assert_int_eq(sp_maker_write(folder, "newer.zst", m.bytes, SP_HEADER_FRAME_BYTES), 0);
	sp_load_one(&load, path);
	events = load.report.totals.events;
	sp_load_finish(&load);
	sp_load_one(&load, folder);
	ck_assert_uint_gt(events, 0);
	ck_assert_uint_eq(load.report.totals.events, events);
	ck_assert_uint_eq(load.complaints, 1);
	ck_assert_ptr_nonnull(strstr(load.last_complaint, "newer.zst"));
	ck_assert_ptr_nonnull(strstr(load.last_complaint, "this program reads version"));
	text = sp_load_print(&load, "summary", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "files of the run could not be read"));
	ck_assert_ptr_nonnull(strstr(text, "unread     1 of 2 files"));
	free(text);
	text = sp_load_print(&load, "summary", SP_FORMAT_JSON);
	ck_assert_ptr_nonnull(strstr(text, "\"doubts\":[\"files of the run could not be read\""));
	free(text);
	sp_load_finish(&load);
	sp_maker_finish(&m);
}
END_TEST

START_TEST(numbers_at_their_limits_do_no_harm)
{
	sp_maker_init(&m, UINT32_MAX, UINT32_MAX, 1);
	m.header.ticks_per_second = 1;
	m.header.opened = (struct sp_clock_point){UINT64_MAX, UINT64_MAX, UINT64_MAX};
	sp_maker_header(&m);
	m.now_ticks = UINT64_MAX - 5;
	sp_maker_event(&m, SP_EV_read, UINT32_MAX, UINT64_MAX, INT64_MAX);
	sp_maker_event(&m, SP_EV_read, 0x0FFFFFFF, 0, INT64_MIN);
	sp_maker_file(&m, UINT32_MAX, (enum sp_file_type)99, "/x");
	sp_maker_file(&m, (1u << 24) - 1, SP_FILE_REGULAR, "/y");
	m.first_index = (UINT64_C(1) << 56) - 4096;
	sp_maker_block(&m, 0);
	put(m.bytes, m.size);
	sp_load_one(&load, path);
	ck_assert_uint_eq(load.report.totals.events, 2);
	ck_assert_uint_eq(load.report.totals.stages[SP_STAGE_unknown_read].aborted, 1);
	free(sp_load_print(&load, "dump", SP_FORMAT_JSON));
	free(sp_load_print(&load, "summary", SP_FORMAT_TABLE));
	free(sp_load_print(&load, "threads", SP_FORMAT_TABLE));
	sp_load_finish(&load);
	sp_maker_finish(&m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("damage");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 500);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, cut_at_every_byte);
	tcase_add_test(tests, bits_flip_in_a_killed_threads_file);
	tcase_add_test(tests, bits_flip_in_a_concatenation);
	tcase_add_test(tests, every_bit_of_every_frames_head);
	tcase_add_test(tests, damage_costs_only_its_block);
	tcase_add_test(tests, a_bomb_is_refused);
	tcase_add_test(tests, a_payload_of_nonsense_is_refused);
	tcase_add_test(tests, other_files_are_refused);
	tcase_add_test(tests, a_newer_version_is_named);
	tcase_add_test(tests, files_of_two_versions_in_a_run);
	tcase_add_test(tests, numbers_at_their_limits_do_no_harm);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
