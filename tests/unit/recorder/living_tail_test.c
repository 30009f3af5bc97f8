/* SPDX-License-Identifier: Apache-2.0 */
/* A process that ends makes a file of the tails of its threads, which go on storing meanwhile. */
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/sys/sys.h"
#include "tests/unit/common/suite.h"
#include "trace/arenas/arena_collect.h"

#define UNITS 1u
#define FRAMES_AT SP_HEADER_FRAME_BYTES
#define FRAMES_BYTES 64u
#define WINDOW_BYTES (SP_WINDOW_HEAD_BYTES + 256u * (uint32_t)sizeof(struct sp_slot))
#define WINDOW_AT (SP_ARENA_UNIT_BYTES - WINDOW_BYTES)
#define FILE_BYTES (SP_HEADER_FRAME_BYTES + FRAMES_AT + FRAMES_BYTES + WINDOW_BYTES)

/* The thread does `what` before write number `at` of the file. */
static struct {
	int writes, at;
	void (*what)(void);
} thread;

static _Alignas(4096) uint8_t arena_bytes[SP_ARENA_HEAD_BYTES + SP_ARENA_UNIT_BYTES];
static struct sp_arena *const arena = (struct sp_arena *)arena_bytes;
static char folder[] = "/tmp/stageprof-unit-XXXXXX", file[256];

static uint8_t *tail(void)
{
	return sp_arena_unit(arena, UNITS, 0);
}

static long sys_beside_thread(long n, long a, long b, long c, long d, long e, long f)
{
	if (n == SYS_pwrite64 && ++thread.writes == thread.at)
		thread.what();
	return sp_sys(n, a, b, c, d, e, f);
}

static void header_put(void *where)
{
	struct sp_file_header h = {
		.frame = {SP_FRAME_HEADER, sizeof(h) - sizeof(h.frame)},
		.tag = SP_TAG_HEADER,
		.version = SP_FORMAT_VERSION,
		.frame_bytes = SP_HEADER_FRAME_BYTES,
		.stream_id = 7,
	};

	h.header_hash = XXH64(&h, offsetof(struct sp_file_header, header_hash), 0);
	memcpy(where, &h, sizeof(h));
}

static void free_put(uint32_t from, uint32_t to)
{
	const struct sp_frame frame = {SP_FRAME_FREE, to - from - (uint32_t)sizeof(frame)};

	memcpy(tail() + from, &frame, sizeof(frame));
}

static void window_put(void)
{
	struct sp_window_header w = {
		.frame = {SP_FRAME_WINDOW, WINDOW_BYTES - sizeof(w.frame)},
		.tag = SP_TAG_WINDOW,
		.version = SP_FORMAT_VERSION,
		.head_bytes = SP_WINDOW_HEAD_BYTES,
		.stream_id = 7,
		.capacity = 256,
	};

	w.header_hash = XXH64(&w, offsetof(struct sp_window_header, header_hash), 0);
	memcpy(tail() + WINDOW_AT, &w, sizeof(w));
}

/* The arena of a process with one thread, and the marker of its run. */
static void setup(void)
{
	FILE *marker;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/0-run-%016d%016d.zst", folder, 1, 2);
	marker = fopen(file, "w");
	ck_assert_ptr_nonnull(marker);
	fclose(marker);
	snprintf(file, sizeof(file), "%s/host-1-2-tails-0.zst", folder);
	arena->units = UNITS;
	arena->run_token[0] = 1;
	arena->run_token[1] = 2;
	strcpy(arena->name, "host-1-2");
	strcpy(arena->directory, folder);
	header_put(&arena->header);
	header_put(tail());
	free_put(FRAMES_AT, FRAMES_AT + FRAMES_BYTES);
	free_put(FRAMES_AT + FRAMES_BYTES, WINDOW_AT);
	window_put();
	arena->head_tails[0] = (struct sp_arena_tail){7, 1, WINDOW_AT};
}

static void teardown(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

static void arena_write(void)
{
	struct sp_collect_paths paths;
	struct sp_collect collect = {.sys = sys_beside_thread, .paths = &paths};
	const struct sp_arena_view view = {.arena = arena, .units = UNITS};

	ck_assert_int_eq(sp_arena_write(&collect, &view), 0);
}

/* Bytes of the file; zstd takes it as a sequence of frames. */
static size_t file_bytes(void)
{
	char command[300];
	FILE *f = fopen(file, "r");
	long bytes;

	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	bytes = ftell(f);
	fclose(f);
	snprintf(command, sizeof(command), "zstd -tq -- '%s'", file);
	ck_assert_int_eq(system(command), 0);
	return (size_t)bytes;
}

static void nothing(void)
{
}

static void frames_replace(void)
{
	memset(tail() + FRAMES_AT, 0xEE, FRAMES_BYTES);
}

static void half_a_block(void)
{
	struct sp_block_header block = {
		.frame = {SP_FRAME_BLOCK, SP_BLOCK_FRAME_BYTES - sizeof(block.frame)},
		.zstd_bytes = 40,
	};

	memcpy(tail() + FRAMES_AT, &block, sizeof(block));
}

static void tail_leave(void)
{
	memset(tail(), 0, SP_HEADER_FRAME_BYTES);
}

static void thread_does(void (*what)(void), int before_write)
{
	thread.what = what;
	thread.at = before_write;
}

START_TEST(the_thread_rests)
{
	thread_does(nothing, 1);
	arena_write();
	ck_assert_uint_eq(file_bytes(), FILE_BYTES);
}
END_TEST

/* The second write has the tail's frames, which were measured before. */
START_TEST(the_thread_replaces_its_frames)
{
	thread_does(frames_replace, 2);
	arena_write();
	ck_assert_uint_eq(file_bytes(), FILE_BYTES);
}
END_TEST

START_TEST(the_thread_is_amid_a_block)
{
	thread_does(half_a_block, 1);
	arena_write();
	ck_assert_uint_eq(file_bytes(), FILE_BYTES - FRAMES_BYTES);
}
END_TEST

START_TEST(the_thread_leaves_its_tail)
{
	thread_does(tail_leave, 1);
	arena_write();
	ck_assert_int_ne(access(file, F_OK), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("living_tail");
	TCase *t = tcase_create("living_tail");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_thread_rests);
	tcase_add_test(t, the_thread_replaces_its_frames);
	tcase_add_test(t, the_thread_is_amid_a_block);
	tcase_add_test(t, the_thread_leaves_its_tail);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
