/* SPDX-License-Identifier: Apache-2.0 */
/* A call in flight: its path in the window of an older writer, in a CALL frame, or nowhere; the
 * lock that a thread waits for. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/reader/call_paths.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

#define OPEN_AT UINT64_C(5000000) /* ticks */

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

/* A killed thread, which is inside open at OPEN_AT. */
static void put_window(const struct sp_mark_address *address)
{
	struct sp_window_header w;
	size_t at;

	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	sp_maker_event(&m, SP_EV_read, 0, 100, 1);
	at = sp_maker_window(&m, 256);
	memcpy(&w, m.bytes + at, sizeof(w));
	w.mark = (struct sp_mark){OPEN_AT, SP_EV_open};
	w.mark_address = *address;
	memcpy(m.bytes + at, &w, sizeof(w));
	ck_assert_int_eq(sp_maker_write(folder, "t.zst", m.bytes, m.size), 0);
}

static struct sp_call_frame frame_of(enum sp_call_what what, const char *text, size_t bytes)
{
	struct sp_call_frame frame = {
		.frame = {SP_FRAME_CALL, sizeof(frame) - sizeof(struct sp_frame)},
		.tag = SP_TAG_CALL,
		.version = SP_FORMAT_VERSION,
		.what = (uint16_t)what,
		.text_bytes = (uint16_t)bytes,
		.stream_id = m.header.stream_id,
	};

	memcpy(frame.text, text, bytes);
	return frame;
}

static void put_frames(struct sp_call_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		frames[i].hash = XXH64(&frames[i], offsetof(struct sp_call_frame, hash), 0);
	ck_assert_int_eq(sp_maker_write(folder, "0-calls-1.zst", frames, count * sizeof(*frames)),
			 0);
}

/* Loads what was put; the one stream of the run. */
static const struct sp_stream *the_stream(void)
{
	sp_maker_finish(&m);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.run.index.stream_count, 1);
	return load.report.run.index.streams[0];
}

START_TEST(the_launcher_left_the_path)
{
	struct sp_mark_address address = {.start_ticks = OPEN_AT, .path_at = 1};
	struct sp_call_frame frames[3];

	put_window(&address);
	frames[0] = frame_of(SP_CALL_PATH, "/first", 6);
	frames[1] = frame_of(SP_CALL_PATH, "/second", 7);
	frames[2] = frame_of(SP_CALL_PATH, "/another call", 13);
	frames[0].start_ticks = frames[1].start_ticks = OPEN_AT;
	frames[2].start_ticks = OPEN_AT + 1;
	put_frames(frames, 3);
	ck_assert_str_eq(the_stream()->mark_path, "/second");
	sp_load_finish(&load);
}
END_TEST

START_TEST(nobody_left_the_path)
{
	struct sp_mark_address address = {.start_ticks = OPEN_AT, .path_at = 1};
	const struct sp_stream *s;

	put_window(&address);
	s = the_stream();
	ck_assert_ptr_null(s->mark_path);
	ck_assert_int_ne(s->path_missing, SP_PATH_NOT_MISSING);
	ck_assert_ptr_nonnull(sp_path_missing_text(s->path_missing));
	sp_load_finish(&load);
}
END_TEST

START_TEST(the_last_lock_counts)
{
	static const char text[] = "python3\0/data/lock";
	struct sp_call_frame frames[2];
	const struct sp_stream *s;

	put_window(&(struct sp_mark_address){.start_ticks = 0});
	frames[0] = frame_of(SP_CALL_MUTEX, "name", 4); /* no NUL: no path */
	frames[0].holder = 10;
	frames[0].holder_tid = 11;
	frames[1] = frame_of(SP_CALL_FILE_LOCK, text, sizeof(text) - 1);
	frames[1].holder = 77;
	frames[1].seen_ns = 123;
	put_frames(frames, 1 + (size_t)_i);
	s = the_stream();
	ck_assert_ptr_nonnull(s->lock);
	if (_i) {
		ck_assert_int_eq(s->lock->what, SP_LIVE_LOCK_FILE);
		ck_assert_uint_eq(s->lock->holder, 77);
		ck_assert_uint_eq(s->lock->holder_tid, 0);
		ck_assert_str_eq(s->lock->holder_is, "python3");
		ck_assert_str_eq(s->lock->file, "/data/lock");
		ck_assert_uint_eq(s->lock_seen_ns, 123);
	} else {
		ck_assert_int_eq(s->lock->what, SP_LIVE_LOCK_MUTEX);
		ck_assert_uint_eq(s->lock->holder_tid, 11);
		ck_assert_str_eq(s->lock->holder_is, "name");
		ck_assert_str_eq(s->lock->file, "");
	}
	sp_load_finish(&load);
}
END_TEST

START_TEST(hostile_texts_stay_in_their_room)
{
	char text[SP_CALL_TEXT_BYTES];
	struct sp_call_frame frames[3];
	const struct sp_stream *s;

	memset(text, 'x', sizeof(text));
	put_window(&(struct sp_mark_address){.start_ticks = 0});
	frames[0] = frame_of(SP_CALL_FILE_LOCK, text, sizeof(text));
	text[0] = '\0';
	frames[1] = frame_of(SP_CALL_COPIED_MUTEX, text, sizeof(text));
	frames[2] = frame_of(SP_CALL_NO_LOCK, text, 0);
	frames[2].seen_ns = 5;
	put_frames(frames, 1 + (size_t)_i);
	s = the_stream();
	ck_assert_ptr_nonnull(s->lock);
	ck_assert_uint_lt(strlen(s->lock->holder_is), sizeof(s->lock->holder_is));
	ck_assert_uint_lt(strlen(s->lock->file), sizeof(s->lock->file));
	ck_assert_int_eq(s->lock->what, _i == 0 ? SP_LIVE_LOCK_FILE : SP_LIVE_LOCK_COPIED);
	ck_assert_int_eq(s->lock_gone_ns != 0, _i == 2);
	sp_load_finish(&load);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_paths");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, the_launcher_left_the_path);
	tcase_add_test(tests, nobody_left_the_path);
	tcase_add_loop_test(tests, the_last_lock_counts, 0, 2);
	tcase_add_loop_test(tests, hostile_texts_stay_in_their_room, 0, 3);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
