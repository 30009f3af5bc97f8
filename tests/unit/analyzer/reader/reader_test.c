/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/totals/thread_end.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/stride.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

static char folder[64];
static struct sp_maker m;
static struct sp_load load;

static void setup(void)
{
	sp_folder_make(folder);
}

static void teardown(void)
{
	sp_folder_remove(folder);
}

static void write_as(struct sp_maker *maker, const char *name)
{
	ck_assert_int_eq(sp_maker_write(folder, name, maker->bytes, maker->size), 0);
	sp_maker_finish(maker);
}

static void begin(uint32_t pid, uint32_t tid)
{
	sp_maker_init(&m, pid, tid, 0);
	sp_maker_header(&m);
}

static const struct sp_sums *stage(enum sp_stage s)
{
	return &load.report.totals.stages[s];
}

/* Reads of 100, 200, … ns and 1, 2, … bytes of file 1. */
static void add_reads(int n)
{
	for (int i = 1; i <= n; i++)
		sp_maker_event(&m, SP_EV_read, 1, (uint64_t)i * 100, i);
}

START_TEST(a_clean_thread_adds_up)
{
	begin(10, 10);
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/a.jpg");
	add_reads(1000);
	sp_maker_event(&m, SP_EV_read, 1, 7, -5);
	sp_maker_event(&m, SP_EV_write, 2, 50, 11);
	sp_maker_jpeg(&m, 5000, 640, 480, SP_DECODE_FINISHED);
	sp_maker_jpeg(&m, 100, 640, 480, SP_DECODE_ABORTED);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.complaints, 0);
	ck_assert_uint_eq(load.report.totals.events, 1004);
	ck_assert_uint_eq(stage(SP_STAGE_file_read)->calls, 1001);
	ck_assert_uint_eq(stage(SP_STAGE_file_read)->total_ns, 100 * 1000 * 1001 / 2 + 7);
	ck_assert_uint_eq(stage(SP_STAGE_file_read)->bytes, 1000 * 1001 / 2);
	ck_assert_uint_eq(stage(SP_STAGE_file_read)->errors, 1);
	ck_assert_uint_eq(stage(SP_STAGE_file_read)->max_ns, 100000);
	ck_assert_uint_eq(stage(SP_STAGE_unknown_write)->bytes, 11);
	ck_assert_uint_eq(stage(SP_STAGE_jpeg_decode)->calls, 2);
	ck_assert_uint_eq(stage(SP_STAGE_jpeg_decode)->total_ns, 5100);
	ck_assert_uint_eq(stage(SP_STAGE_jpeg_decode)->aborted, 1);
	ck_assert_uint_eq(load.report.totals.pixels, 640 * 480);
	ck_assert_uint_eq(load.report.totals.not_ended, 0);
	sp_load_finish(&load);
}
END_TEST

START_TEST(a_counter_is_converted)
{
	sp_maker_init(&m, 10, 10, 1);
	m.header.grain = 3;
	sp_maker_header(&m);
	sp_maker_event(&m, SP_EV_read, 0, 3000, 1);
	m.now_ticks += 60000000; /* 20 ms: enough to fit the rate */
	sp_maker_event(&m, SP_EV_read, 0, 6000, 1);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(stage(SP_STAGE_unknown_read)->total_ns, 3000);
	ck_assert_uint_eq(stage(SP_STAGE_unknown_read)->max_ns, 2000);
	sp_load_finish(&load);
}
END_TEST

START_TEST(clocks_may_step_back)
{
	begin(10, 10);
	sp_maker_event(&m, SP_EV_read, 0, 1000, 1);
	sp_maker_block(&m, 0);
	m.header.opened.realtime_ns -= UINT64_C(3600000000000); /* somebody sets the clock */
	sp_maker_event(&m, SP_EV_read, 0, 2000, 1);
	sp_maker_event(&m, SP_EV_read, 0, (uint64_t)-40,
		       1); /* on another processor, a little earlier */
	sp_maker_event(&m, SP_EV_read, 0, 3000, 1);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.complaints, 0);
	ck_assert_uint_eq(stage(SP_STAGE_unknown_read)->calls, 4);
	ck_assert_uint_eq(stage(SP_STAGE_unknown_read)->total_ns, 6000);
	ck_assert_uint_eq(stage(SP_STAGE_unknown_read)->max_ns, 3000);
	ck_assert_int_ge(load.report.totals.end_ns - load.report.run.begin_ns, 6000);
	ck_assert_int_lt(load.report.totals.end_ns - load.report.run.begin_ns, 1000000);
	sp_load_finish(&load);
}
END_TEST

START_TEST(files_are_known_across_threads_and_after_use)
{
	begin(10, 11);
	sp_maker_event(&m, SP_EV_read, 1, 10, 1);
	sp_maker_event(&m, SP_EV_read, 2, 10, 1);
	sp_maker_file(&m, 2, SP_FILE_PIPE, "pipe:[7]");
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	begin(10, 12);
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/x");
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "b.zst");
	begin(13, 13); /* another process: its file 1 is not that one */
	sp_maker_event(&m, SP_EV_read, 1, 10, 1);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "c.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(stage(SP_STAGE_file_read)->calls, 1);
	ck_assert_uint_eq(stage(SP_STAGE_ipc_read)->calls, 1);
	ck_assert_uint_eq(stage(SP_STAGE_unknown_read)->calls, 1);
	ck_assert_uint_eq(load.report.totals.processes, 2);
	ck_assert_uint_eq(load.report.totals.threads, 3);
	sp_load_finish(&load);
}
END_TEST

START_TEST(a_window_is_read)
{
	begin(10, 10);
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/x");
	add_reads(100);
	m.lost = 5;
	sp_maker_free(&m, 4096, 0);
	sp_maker_window(&m, 256);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.complaints, 0);
	ck_assert_uint_eq(stage(SP_STAGE_file_read)->calls, 100);
	ck_assert_uint_eq(load.report.totals.not_ended, 1);
	ck_assert_uint_eq(load.report.totals.lost, 5);
	ck_assert_uint_eq(load.report.totals.lost_full, 5);
	sp_load_finish(&load);
}
END_TEST

static void write_thread(uint32_t pid, uint32_t tid, uint64_t lived_ns, bool is_clean)
{
	char name[32];

	begin(pid, tid);
	sp_maker_event(&m, SP_EV_read, 0, lived_ns, 1);
	if (is_clean)
		sp_maker_block(&m, SP_BLOCK_LAST);
	else
		sp_maker_window(&m, 256);
	snprintf(name, sizeof(name), "%u-%u.zst", pid, tid);
	write_as(&m, name);
}

static enum sp_thread_end end_of(uint32_t tid)
{
	for (uint32_t i = 0; i < load.report.run.index.stream_count; i++)
		if (load.report.run.index.streams[i]->tid == tid)
			return sp_thread_end_of(&load.report.run, &load.report.totals, i);
	ck_abort_msg("thread %u is not there", tid);
}

START_TEST(threads_end_with_their_process)
{
	char *info;

	write_thread(10, 10, 5000000000, true);
	write_thread(10, 11, 4000000000, false);
	write_thread(10, 12, 5000001000, false); /* on while the process ends */
	write_thread(10, 13, 7000000000, false); /* the main thread left, and this one stayed */
	write_thread(20, 20, 5000000000, false);
	write_thread(20, 21, 4000000000, false);
	write_thread(20, 22, 4000000000, true);
	sp_load_one(&load, folder);
	ck_assert_int_eq(end_of(10), SP_THREAD_END_CLEAN);
	ck_assert_int_eq(end_of(11), SP_THREAD_END_WITH_PROCESS);
	ck_assert_int_eq(end_of(12), SP_THREAD_END_WITH_PROCESS);
	ck_assert_int_eq(end_of(13), SP_THREAD_END_NONE);
	ck_assert_int_eq(end_of(20), SP_THREAD_END_NONE);
	ck_assert_int_eq(end_of(21), SP_THREAD_END_NONE);
	ck_assert_int_eq(end_of(22), SP_THREAD_END_CLEAN);
	ck_assert_uint_eq(load.report.totals.not_ended, 3);
	ck_assert_uint_eq(load.report.totals.ended_with_process, 2);
	info = sp_load_print(&load, "info", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(info, "clean end               10-10.zst"));
	ck_assert_ptr_nonnull(strstr(info, "ended with its process  10-11.zst"));
	ck_assert_ptr_nonnull(strstr(info, "no clean end            10-13.zst"));
	free(info);
	sp_load_finish(&load);
}
END_TEST

/* The ring has gone round more often than a generation can count, and ends in its middle. */
START_TEST(blocks_and_window_meet_anywhere)
{
	for (uint32_t in_window = 0; in_window <= 256; in_window += SP_STRIDE > 1 ? 85 : 17) {
		begin(10, 10);
		for (int block = 0; block < 30; block++) {
			add_reads(4000 + block);
			sp_maker_block(&m, 0);
		}
		add_reads((int)in_window);
		sp_maker_window(&m, 256);
		write_as(&m, "a.zst");
		sp_load_one(&load, folder);
		ck_assert_uint_eq(load.report.totals.events, 30 * 4000 + 29 * 30 / 2 + in_window);
		ck_assert_uint_eq(load.complaints, 0);
		sp_load_finish(&load);
	}
}
END_TEST

/* Killed between publishing a block and beginning a new turn of the window: both hold the slots. */
START_TEST(what_is_in_block_and_window_counts_once)
{
	struct sp_slot kept[100];

	begin(10, 10);
	add_reads(100);
	memcpy(kept, m.slots, sizeof(kept));
	sp_maker_block(&m, 0);
	memcpy(m.slots, kept, sizeof(kept));
	m.slot_count = 100;
	m.first_index = 0;
	add_reads(20);
	sp_maker_window(&m, 256);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.totals.events, 120);
	ck_assert_uint_eq(load.report.totals.missing + load.report.totals.holes, 0);
	sp_load_finish(&load);
}
END_TEST

/* Writes the file of `m` as NAME, with `n` slots of its window from `position` on empty. */
static void write_torn(size_t window, uint32_t position, uint32_t n, const char *name)
{
	uint8_t *copy = malloc(m.size);

	memcpy(copy, m.bytes, m.size);
	memset(copy + window + SP_WINDOW_HEAD_BYTES + position * sizeof(struct sp_slot), 0,
	       n * sizeof(struct sp_slot));
	ck_assert_int_eq(sp_maker_write(folder, name, copy, m.size), 0);
	free(copy);
}

/* A process that ends copies windows while their threads go on: slots that it missed are in the
 * copy that the next process makes. */
START_TEST(copies_of_a_window_fill_each_other)
{
	size_t at;

	begin(10, 10);
	add_reads(300);
	sp_maker_block(&m, 0);
	add_reads(200);
	at = sp_maker_window(&m, 256);
	write_torn(at, 60, 70, "a.zst");
	write_torn(at, 180, 20, "b.zst");
	write_torn(at, 0, 59, "c.zst");
	sp_maker_finish(&m);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.totals.events, 500);
	ck_assert_uint_eq(load.report.totals.missing + load.report.totals.holes, 0);
	ck_assert_uint_eq(load.complaints, 0);
	sp_load_finish(&load);
}
END_TEST

/* A generation is known modulo 256, so a slot of an old copy looks like a newer one. */
START_TEST(an_old_copy_of_a_window_fills_nothing)
{
	struct sp_maker old;

	sp_maker_init(&old, 10, 10, 0);
	sp_maker_header(&old);
	for (int i = 0; i < 100; i++)
		sp_maker_event(&old, SP_EV_read, 1, 100, 1);
	sp_maker_window(&old, 256);
	write_as(&old, "old.zst");
	begin(10, 10);
	for (int block = 0; block < 256; block++) {
		add_reads(256);
		sp_maker_block(&m, 0);
	}
	add_reads(50);
	sp_maker_hole(&m);
	add_reads(49);
	sp_maker_window(&m, 256);
	write_as(&m, "new.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.totals.events, 256 * 256 + 99);
	ck_assert_uint_eq(load.report.totals.holes, 1);
	sp_load_finish(&load);
}
END_TEST

START_TEST(a_block_given_twice_counts_once)
{
	size_t from, bytes;
	uint8_t *copy;

	begin(10, 10);
	from = m.size;
	add_reads(100);
	sp_maker_block(&m, 0);
	bytes = m.size - from;
	copy = malloc(bytes);
	memcpy(copy, m.bytes + from, bytes);
	sp_maker_append(&m, copy, bytes);
	free(copy);
	add_reads(10);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.totals.events, 110);
	ck_assert_uint_eq(load.report.totals.missing, 0);
	ck_assert_uint_eq(load.complaints, 0);
	sp_load_finish(&load);
}
END_TEST

START_TEST(a_slot_never_committed_is_told)
{
	begin(10, 10);
	add_reads(5);
	sp_maker_hole(&m);
	add_reads(5);
	sp_maker_window(&m, 256);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.totals.events, 10);
	ck_assert_uint_eq(load.report.totals.holes, 1);
	ck_assert_uint_eq(load.complaints, 1);
	sp_load_finish(&load);
}
END_TEST

START_TEST(a_missing_block_is_told)
{
	begin(10, 10);
	add_reads(100);
	sp_maker_block(&m, 0);
	m.first_index += 300;
	add_reads(10);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.totals.events, 110);
	ck_assert_uint_eq(load.report.totals.missing, 300);
	ck_assert_uint_eq(load.complaints, 1);
	sp_load_finish(&load);
}
END_TEST

START_TEST(records_cross_blocks)
{
	char path[2000];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (int before = 4000; before < 4096; before += SP_STRIDE) {
		begin(10, 10);
		add_reads(before);
		sp_maker_file(&m, 1, SP_FILE_REGULAR, path);
		add_reads(4095 - (int)m.slot_count);
		sp_maker_jpeg(&m, 70, 8, 8, SP_DECODE_FINISHED);
		sp_maker_block(&m, SP_BLOCK_LAST);
		write_as(&m, "a.zst");
		sp_load_one(&load, folder);
		ck_assert_uint_eq(stage(SP_STAGE_unknown_read)->calls, 0);
		ck_assert_uint_ge(stage(SP_STAGE_file_read)->calls, (unsigned)before);
		ck_assert_uint_eq(stage(SP_STAGE_jpeg_decode)->calls, 1);
		ck_assert_uint_eq(stage(SP_STAGE_jpeg_decode)->total_ns, 70);
		sp_load_finish(&load);
	}
}
END_TEST

START_TEST(kinds_of_a_newer_version_are_counted)
{
	begin(10, 10);
	sp_maker_event(&m, 999, 0, 10, 1);
	sp_maker_event(&m, SP_EVENT_KINDS - 1, 0, 10, 1);
	sp_maker_extra(&m, 1, 2, 3);
	sp_maker_define(&m, (enum sp_define)31, 1, "new", 3);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(stage(SP_STAGE_other)->calls, 2);
	ck_assert_uint_eq(load.report.totals.unknown, 2);
	sp_load_finish(&load);
}
END_TEST

START_TEST(slow_calls_come_with_their_stacks)
{
	static const uint64_t frames[] = {0x7000000000001234, 0x400010, 0x10};
	struct sp_object_metadata library = {0x7000000000000000, 0x7000000000010000,
					     0x7000000000000000};
	struct sp_object_metadata program = {0x400000, 0x401000, 0};
	struct sp_slow_call_metadata slow = {0, 5000, SP_EV_read, 1};
	uint8_t blob[64];
	char *text;

	begin(10, 10);
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/x");
	for (int i = 0; i < 3; i++)
		sp_maker_define(&m, SP_DEFINE_SLOW, 7, &slow, sizeof(slow));
	memcpy(blob, &library, sizeof(library));
	memcpy(blob + sizeof(library), "/lib/libx.so", 12);
	sp_maker_define(&m, SP_DEFINE_OBJECT, 1, blob, sizeof(library) + 12);
	memcpy(blob, &program, sizeof(program));
	memcpy(blob + sizeof(program), "prog", 4);
	sp_maker_define(&m, SP_DEFINE_OBJECT, 2, blob, sizeof(program) + 4);
	sp_maker_define(&m, SP_DEFINE_STACK, 7, frames, sizeof(frames));
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	sp_load_one(&load, folder);
	text = sp_load_print(&load, "stacks", SP_FORMAT_CSV);
	ck_assert_str_eq(text, "pid,event,calls,total_ns,max_ns,max_file,frames,functions\n"
			       "10,\"read\",3,15000,5000,\"/data/x\","
			       "\"libx.so+0x1234;prog+0x400010;?+0x10\",\";;\"\n");
	free(text);
	sp_load_finish(&load);
}
END_TEST

/* Three processes of two hosts, one of them killed, with files, images and losses. */
static void make_run(uint8_t **whole, size_t *whole_bytes)
{
	static const char *const names[] = {"a.zst", "b.zst", "c.zst", "d.zst"};
	struct sp_maker all = {.bytes = NULL};

	for (uint32_t i = 0; i < 4; i++) {
		sp_maker_init(&m, 10 + i / 2, 20 + i, 1);
		if (i == 3)
			strcpy(m.header.host, "host-b");
		m.header.process_lost = sp_checked_make(i == 0 ? 3 : 0);
		sp_maker_header(&m);
		sp_maker_file(&m, 1, i ? SP_FILE_PIPE : SP_FILE_REGULAR, "/data/x.jpg");
		for (uint32_t block = 0; block < 3; block++) {
			add_reads(300 + (int)(i * 7 + block));
			sp_maker_jpeg(&m, 3001 * (i + 1), 32, 32, block % 2);
			m.now_ticks += 100000000;
			if (block < 2)
				sp_maker_block(&m, 0);
		}
		m.lost = i;
		if (i % 2)
			sp_maker_window(&m, 1024);
		else
			sp_maker_block(&m, SP_BLOCK_LAST);
		sp_maker_append(&all, m.bytes, m.size);
		write_as(&m, names[i]);
	}
	*whole = all.bytes;
	*whole_bytes = all.size;
}

static char *stages_of(const char *const *paths, unsigned jobs)
{
	char *text;

	sp_load(&load, paths, jobs, NULL);
	ck_assert_uint_eq(load.complaints, 0);
	text = sp_load_print(&load, "stages", SP_FORMAT_JSON);
	sp_load_finish(&load);
	return text;
}

START_TEST(a_concatenation_equals_the_directory)
{
	char one[128], other[64], a[128], b[128], c[128], d[128];
	char *expected, *got;
	uint8_t *whole;
	size_t bytes;

	make_run(&whole, &bytes);
	sp_folder_make(other);
	ck_assert_int_eq(sp_maker_write(other, "one.zst", whole, bytes), 0);
	free(whole);
	snprintf(one, sizeof(one), "%s/one.zst", other);
	snprintf(a, sizeof(a), "%s/a.zst", folder);
	snprintf(b, sizeof(b), "%s/b.zst", folder);
	snprintf(c, sizeof(c), "%s/c.zst", folder);
	snprintf(d, sizeof(d), "%s/d.zst", folder);
	expected = stages_of((const char *const[]){folder, NULL}, 1);
	got = stages_of((const char *const[]){one, NULL}, 1);
	ck_assert_str_eq(got, expected);
	free(got);
	got = stages_of((const char *const[]){d, b, c, a, NULL}, 2);
	ck_assert_str_eq(got, expected);
	free(got);
	got = stages_of((const char *const[]){folder, one, NULL},
			3); /* each thread is there twice */
	ck_assert_str_eq(got, expected);
	free(got);
	free(expected);
	sp_folder_remove(other);
}
END_TEST

START_TEST(threads_leave_no_mark)
{
	char *expected, *got;
	uint8_t *whole;
	size_t bytes;

	make_run(&whole, &bytes);
	free(whole);
	expected = stages_of((const char *const[]){folder, NULL}, 1);
	for (unsigned jobs = 2; jobs < 9; jobs++) {
		got = stages_of((const char *const[]){folder, NULL}, jobs);
		ck_assert_str_eq(got, expected);
		free(got);
	}
	free(expected);
}
END_TEST

START_TEST(a_lost_header_costs_no_events)
{
	uint8_t *whole;
	size_t bytes;

	make_run(&whole, &bytes);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.complaints, 0);
	uint64_t events = load.report.totals.events, ns = stage(SP_STAGE_ipc_read)->total_ns;

	sp_load_finish(&load);
	memset(whole, 0xAA, 100); /* the first file's header, in the concatenation */
	sp_folder_remove(folder);
	ck_assert_int_eq(sp_maker_write(folder, "one.zst", whole, bytes), 0);
	free(whole);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.complaints, 1);
	ck_assert_uint_eq(load.report.totals.events, events);
	ck_assert_uint_eq(stage(SP_STAGE_ipc_read)->total_ns, ns);
	ck_assert_uint_eq(load.report.totals.processes, 3);
	sp_load_finish(&load);
}
END_TEST

START_TEST(a_selection_selects)
{
	struct sp_selection pid = {10, 0, INT64_MIN, INT64_MAX},
			    tid = {0, 21, INT64_MIN, INT64_MAX};
	struct sp_selection time = {0, 0, 0, 110}; /* the first read ends after 10 + 100 ns */
	const char *const paths[] = {folder, NULL};

	begin(10, 20);
	add_reads(10);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "a.zst");
	begin(11, 21);
	add_reads(3);
	sp_maker_block(&m, SP_BLOCK_LAST);
	write_as(&m, "b.zst");
	sp_load(&load, paths, 1, &pid);
	ck_assert_uint_eq(load.report.totals.events, 10);
	ck_assert_uint_eq(load.report.totals.processes, 1);
	sp_load_finish(&load);
	sp_load(&load, paths, 1, &tid);
	ck_assert_uint_eq(load.report.totals.events, 3);
	sp_load_finish(&load);
	sp_load(&load, paths, 1, &time);
	ck_assert_uint_eq(load.report.totals.events, 2);
	ck_assert_uint_eq(load.report.totals.missing, 0);
	ck_assert_uint_eq(load.complaints, 0);
	sp_load_finish(&load);
	time = (struct sp_selection){0, 0, 120, INT64_MAX};
	sp_load(&load, paths, 1, &time);
	ck_assert_uint_eq(load.report.totals.events, 9 + 2);
	sp_load_finish(&load);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reader");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_clean_thread_adds_up);
	tcase_add_test(tests, threads_end_with_their_process);
	tcase_add_test(tests, a_counter_is_converted);
	tcase_add_test(tests, clocks_may_step_back);
	tcase_add_test(tests, files_are_known_across_threads_and_after_use);
	tcase_add_test(tests, a_window_is_read);
	tcase_add_test(tests, blocks_and_window_meet_anywhere);
	tcase_add_test(tests, what_is_in_block_and_window_counts_once);
	tcase_add_test(tests, copies_of_a_window_fill_each_other);
	tcase_add_test(tests, an_old_copy_of_a_window_fills_nothing);
	tcase_add_test(tests, a_block_given_twice_counts_once);
	tcase_add_test(tests, a_slot_never_committed_is_told);
	tcase_add_test(tests, a_missing_block_is_told);
	tcase_add_test(tests, records_cross_blocks);
	tcase_add_test(tests, kinds_of_a_newer_version_are_counted);
	tcase_add_test(tests, slow_calls_come_with_their_stacks);
	tcase_add_test(tests, a_concatenation_equals_the_directory);
	tcase_add_test(tests, threads_leave_no_mark);
	tcase_add_test(tests, a_lost_header_costs_no_events);
	tcase_add_test(tests, a_selection_selects);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
