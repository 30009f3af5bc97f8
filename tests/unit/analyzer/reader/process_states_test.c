/* SPDX-License-Identifier: Apache-2.0 */
/* One report says of a process what was true when its file was read, whatever happens meanwhile. */
#include "analyzer/reader/process_states.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/totals/process_end.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

static char folder[64];
static struct sp_maker m;
static struct sp_load load;
static pid_t child;

/* A trace of a process that lives, and has left no end. */
static void setup(void)
{
	struct timespec now;
	struct utsname names;

	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	ck_assert_int_eq(uname(&names), 0);
	sp_folder_make(folder);
	sp_maker_init(&m, (uint32_t)child, (uint32_t)child, 0);
	m.header.image_start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	for (size_t i = 0; i < sizeof(m.header.host) - 1; i++)
		m.header.host[i] = names.nodename[i] == '-' ? '_' : names.nodename[i];
	sp_maker_header(&m);
	sp_maker_event(&m, SP_EV_read, 0, 100, 1);
	sp_maker_window(&m, 256);
	ck_assert_int_eq(sp_maker_write(folder, "t.zst", m.bytes, m.size), 0);
	sp_load_one(&load, folder);
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_maker_finish(&m);
	sp_folder_remove(folder);
}

static struct sp_process_end end_now(void)
{
	return sp_process_end_of(&load.report.run, &load.report.totals, 0);
}

static void child_kill(void)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* The child is gone, and the file has a status by now, in the header that was read or, where
 * `other` is 1, in another one. */
static void child_exits_in(uint64_t other)
{
	struct sp_file_header header;

	child_kill();
	memcpy(&header, m.bytes, sizeof(header));
	header.ending = sp_ending_make(SP_ENDING_EXITED, 3);
	header.header_hash += other;
	memcpy(m.bytes, &header, sizeof(header));
	ck_assert_int_eq(sp_maker_write(folder, "t.zst", m.bytes, m.size), 0);
	sp_process_states_learn(&load.report.run.index);
}

START_TEST(a_process_dies_during_a_report)
{
	ck_assert_int_eq(end_now().how, SP_PROCESS_RUNNING);
	child_kill();
	ck_assert_int_eq(end_now().how, SP_PROCESS_RUNNING);
	sp_load_finish(&load);
	sp_load_one(&load, folder);
	ck_assert_int_eq(end_now().how, SP_PROCESS_KILLED);
}
END_TEST

/* The status came into the file after the file was read. */
START_TEST(a_process_exits_after_its_file_was_read)
{
	child_exits_in(0);
	ck_assert_int_eq(end_now().how, SP_PROCESS_EXITED);
	ck_assert_uint_eq(end_now().status, 3);
}
END_TEST

/* Another file took the name. */
START_TEST(another_header_says_nothing)
{
	child_exits_in(1);
	ck_assert_int_eq(end_now().how, SP_PROCESS_KILLED);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("process_states");
	Suite *s = suite_create("process_states");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_process_dies_during_a_report);
	tcase_add_test(tc, a_process_exits_after_its_file_was_read);
	tcase_add_test(tc, another_header_says_nothing);
	suite_add_tcase(s, tc);
	return sp_suite_run(s);
}
