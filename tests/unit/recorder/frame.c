/* SPDX-License-Identifier: Apache-2.0 */
/* Frames made by hand, read by zstd. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "preload/blocks/frame.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/suite.h"

#define BYTES_MAX (300u << 10)

static uint8_t content[BYTES_MAX], back[BYTES_MAX];
static uint64_t state = 0x2545F4914F6CDD1D;

static uint64_t draw(void)
{
	return sp_draw(&state);
}

static void assert_read(const uint8_t *frame, size_t frame_bytes, uint32_t bytes)
{
	memset(back, 0xA5, bytes);
	ck_assert_uint_eq(ZSTD_findFrameCompressedSize(frame, frame_bytes), frame_bytes);
	ck_assert_uint_eq(ZSTD_decompress(back, sizeof(back), frame, frame_bytes), bytes);
	ck_assert_mem_eq(back, content, bytes);
}

/* Runs of any length with a few bytes between; returns how many bytes. */
static uint32_t fill_runs(uint32_t runs, uint32_t longest, uint32_t between)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < runs; i++) {
		uint32_t run = (uint32_t)(draw() % longest),
			 few = between ? (uint32_t)(draw() % between) : 0;

		for (uint32_t k = 0; k < few; k++)
			content[n++] = (uint8_t)draw();
		memset(content + n, (int)(draw() & 0xFF), run);
		n += run;
	}
	return n;
}

/* In memory of just that size, so that sanitizers detect stores after it. */
static size_t put(uint32_t bytes, size_t room)
{
	uint8_t *out = malloc(room + 1);
	size_t n = sp_frame_put_runs(out, room, content, bytes);

	ck_assert_uint_le(n, room);
	if (n)
		assert_read(out, n, bytes);
	free(out);
	return n;
}

START_TEST(runs_come_back)
{
	unsigned taken = 0;

	for (int i = 0; i < 2000; i++) {
		uint32_t bytes =
			fill_runs(1 + (uint32_t)(draw() % 6), i % 3 ? 9000 : 200, i % 5 * 16);

		taken += put(bytes, bytes / 8 + 64) != 0;
	}
	ck_assert_uint_gt(taken, 500);
}
END_TEST

START_TEST(a_run_may_be_longer_than_a_block)
{
	memset(content, 7, sizeof(content));
	ck_assert_uint_gt(put(sizeof(content), sizeof(content) / 32), 0);
	ck_assert_uint_lt(put(sizeof(content), sizeof(content) / 32), 64);
}
END_TEST

START_TEST(what_is_no_run_is_left_to_zstd)
{
	for (uint32_t i = 0; i < 4096; i++)
		content[i] = (uint8_t)(i % 3);
	ck_assert_uint_eq(put(4096, 8192), 0);
	ck_assert_uint_eq(put(0, 8192), 0);
	for (uint32_t i = 0; i < 4096; i++)
		content[i] = (uint8_t)draw();
	ck_assert_uint_eq(put(4096, 8192), 0);
}
END_TEST

START_TEST(too_little_room_is_said)
{
	uint32_t bytes = 4096;
	size_t n;

	memset(content, 1, bytes);
	memset(content, 2, 40);
	n = put(bytes, bytes);
	ck_assert_uint_gt(n, 0);
	for (size_t room = 0; room < n; room++)
		ck_assert_uint_eq(put(bytes, room), 0);
}
END_TEST

START_TEST(raw_content_comes_back)
{
	static uint8_t out[8192];

	for (uint32_t bytes = 1; bytes < 5000; bytes += 97) {
		for (uint32_t i = 0; i < bytes; i++)
			content[i] = (uint8_t)draw();
		ck_assert_uint_eq(sp_frame_put_raw(out, bytes + SP_FRAME_RAW_BYTES - 1, content,
						   bytes),
				  0);
		ck_assert_uint_eq(sp_frame_put_raw(out, bytes + SP_FRAME_RAW_BYTES, content, bytes),
				  bytes + SP_FRAME_RAW_BYTES);
		assert_read(out, bytes + SP_FRAME_RAW_BYTES, bytes);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, runs_come_back);
	tcase_add_test(tests, a_run_may_be_longer_than_a_block);
	tcase_add_test(tests, what_is_no_run_is_left_to_zstd);
	tcase_add_test(tests, too_little_room_is_said);
	tcase_add_test(tests, raw_content_comes_back);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
