/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder in a plain program: what was emitted is what the files hold, exactly. */
#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/recorder/run_claim.h"
#include "preload/recorder/thread.h"
#include "preload/settings/run_identity.h"
#include "tests/unit/common/stride.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/own_run.h"

static const int64_t counts[] = {1, 2, 223, 224, 225, 256, 1000, 5000, 100000, 1000000};

static void emit_some(void)
{
	emit_many(300);
}

static struct slots_count one_after_another(const char *mode, int how)
{
	int64_t n = 300;

	unshare(CLONE_NEWIPC); /* other programs' runs on the machine collect memory, too */
	run_begin(mode);
	ck_assert_int_ge(sp_run_claim(), 0);
	for (unsigned i = 0; i < 50; i++)
		if (how == 0)
			emit_in_threads(1, n);
		else
			in_child(how == 1 ? emit_and_finish : emit_some, how == 2);
	return run_read(NULL, NULL);
}

START_TEST(a_finished_thread_has_all)
{
	struct slots_count count;
	int64_t n = counts[_i];

	run_begin("map");
	emit_many(n);
	sp_thread_finish();
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, n);
	ck_assert_int_eq(count.value_sum, n * (n - 1) / 2);
	ck_assert_uint_eq(count.last_value_in_order, 1);
	ck_assert_uint_eq(count.windows, 0);
	ck_assert_uint_eq(count.ended, 1);
	ck_assert_uint_eq(count.lost, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

/* Not finishing is what SIGKILL leaves. */
START_TEST(a_killed_thread_has_all)
{
	struct slots_count count;
	int64_t n = counts[_i];

	run_begin("map");
	emit_many(n);
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, n);
	ck_assert_int_eq(count.value_sum, n * (n - 1) / 2);
	ck_assert_uint_eq(count.windows, 1);
	ck_assert_uint_eq(count.holes, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

START_TEST(write_mode_has_all_of_a_finished_thread)
{
	struct slots_count count;
	int64_t n = counts[_i];

	run_begin("write");
	emit_many(n);
	sp_thread_finish();
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, n);
	ck_assert_int_eq(count.value_sum, n * (n - 1) / 2);
	ck_assert_uint_eq(count.ended, 1);
	zstd_accepts();
	run_remove();
}
END_TEST

START_TEST(threads_have_a_stream_each)
{
	static const struct {
		unsigned threads;
		int64_t n;
	} sizes[] = {{8, 50000}, {500, 20}};
	struct slots_count count;

	run_begin("map");
	emit_in_threads(sizes[_i].threads, sizes[_i].n);
	count = run_read(NULL, NULL);
	ck_assert_uint_le(count.files, sizes[_i].threads);
	ck_assert_uint_eq(count.streams, sizes[_i].threads);
	ck_assert_uint_eq(count.ended, sizes[_i].threads);
	ck_assert_uint_eq(count.events, sizes[_i].threads * (uint64_t)sizes[_i].n);
	ck_assert_uint_eq(count.last_value_in_order, 1);
	zstd_accepts();
	run_remove();
}
END_TEST

START_TEST(a_thread_that_goes_on_after_its_end_begins_another_part)
{
	struct slots_count count;

	run_begin("map");
	for (int i = 0; i < 3; i++) {
		emit_many(300);
		sp_thread_finish();
	}
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.streams, 3);
	ck_assert_uint_eq(count.events, 900);
	run_remove();
}
END_TEST

/* Threads, processes that end, and processes that are killed, one after another. */
START_TEST(a_file_is_continued_by_whoever_comes_next)
{
	struct slots_count count = one_after_another("map", _i);
	int64_t n = 300;

	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.streams, 50);
	ck_assert_uint_eq(count.events, 50 * n);
	ck_assert_uint_eq(count.ended, _i == 2 ? 0 : 50);
	ck_assert_uint_eq(count.windows, _i == 2 ? 50 : 0);
	ck_assert_uint_eq(count.lost, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

/* The same with files that are written. */
START_TEST(a_written_file_is_continued_by_whoever_comes_next)
{
	struct slots_count count = one_after_another("write", _i);

	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.ended, _i == 2 ? 0 : 50);
	for (int i = 0; i < 1000 && count.events < UINT64_C(50) * 300; i++) {
		in_child(emit_and_finish, 0);
		count = run_read(NULL, NULL);
		count.events -= UINT64_C(300) * ((unsigned)i + 1);
	}
	ck_assert_uint_eq(count.events, 50 * 300);
	ck_assert_uint_eq(count.lost, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

/* Each stands for what may happen to a file that a thread left. */
static void change_file(const char *path, int how)
{
	char other[4400];

	snprintf(other, sizeof(other), "%s.other", path);
	if (how == 0)
		ck_assert_int_eq(link(path, other), 0); /* a backup by hard links */
	else if (how == 1)
		ck_assert_int_eq(rename(path, other), 0);
	else if (how == 2)
		ck_assert_int_eq(truncate(path, 857), 0);
	else
		ck_assert_int_eq(unlink(path), 0);
}

START_TEST(a_file_that_was_changed_is_not_continued)
{
	char path[4300], command[9000];
	struct slots_count count;

	run_begin(_i < 4 ? "map" : "write");
	emit_and_finish();
	snprintf(command, sizeof(command), "ls %s/*.zst | grep -v 0-run-", sp_run.directory);
	FILE *list = popen(command, "r");
	ck_assert_int_eq(fscanf(list, "%4299s", path), 1);
	pclose(list);
	change_file(path, _i % 4);
	snprintf(command, sizeof(command), "mkdir %s/kept; mv %s* %s/kept", run_folder, path,
		 run_folder);
	if (_i % 4 == 3)
		emit_and_finish();
	for (int i = 0; i < 2 && _i % 4 != 3; i++) {
		emit_and_finish();
		if (i == 0)
			ck_assert_int_eq(system(command), 0);
	}
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.events, _i % 4 == 3 ? 300 : 600);
	zstd_accepts();
	run_remove();
}
END_TEST

START_TEST(a_forked_child_is_an_image_of_its_own)
{
	struct slots_count count;
	int status;
	pid_t child;

	run_begin("map");
	emit_many(1000);
	child = fork();
	if (child == 0) {
		emit_many(2000);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	emit_many(500);
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.files, 2);
	ck_assert_uint_eq(count.events, 3500);
	run_remove();
}
END_TEST

START_TEST(no_descriptor_is_taken)
{
	int before, after;

	run_begin("map");
	before = dup(0);
	close(before);
	emit_many(200000);
	after = dup(0);
	ck_assert_int_eq(before, after);
	sp_thread_finish();
	run_remove();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorder");
	TCase *t = tcase_create("recorder");
	/* The longest is the one before it ten times over: no more threads in it. */
	int sizes = sizeof(counts) / sizeof(counts[0]) - (SP_STRIDE > 1);

	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, a_finished_thread_has_all, 0, sizes);
	tcase_add_loop_test(t, a_killed_thread_has_all, 0, sizes);
	tcase_add_loop_test(t, write_mode_has_all_of_a_finished_thread, 0, sizes);
	tcase_add_loop_test(t, threads_have_a_stream_each, 0, 2);
	tcase_add_test(t, a_thread_that_goes_on_after_its_end_begins_another_part);
	tcase_add_loop_test(t, a_file_is_continued_by_whoever_comes_next, 0, 3);
	tcase_add_loop_test(t, a_written_file_is_continued_by_whoever_comes_next, 0, 3);
	tcase_add_loop_test(t, a_file_that_was_changed_is_not_continued, 0, 8);
	tcase_add_test(t, a_forked_child_is_an_image_of_its_own);
	tcase_add_test(t, no_descriptor_is_taken);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
