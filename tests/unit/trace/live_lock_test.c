/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/common/suite.h"
#include "trace/live_lock.h"

#define TURNS 2000 /* of a few milliseconds */

struct shared {
	pthread_mutex_t mutex;
	volatile int is_held;
	int path_fd;
	char path[64];
};

static struct shared *shared;

static void nap(void)
{
	const struct timespec t = {0, 5000000};

	nanosleep(&t, NULL);
}

/* A child of the test ends with it. */
static pid_t child(void (*work)(void))
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work();
	_exit(0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void wait_until_held(void)
{
	for (int i = 0; i < TURNS && !shared->is_held; i++)
		nap();
	ck_assert(shared->is_held);
}

/* As soon as the process waits for a lock. */
static struct sp_live_lock lock_of(pid_t pid)
{
	struct sp_live_lock lock = {.what = SP_LIVE_LOCK_NONE};

	for (int i = 0; i < TURNS && sp_live_lock((uint32_t)pid, (uint32_t)pid, &lock) < 0; i++)
		nap();
	return lock;
}

static void hold(void)
{
	shared->is_held = 1;
	for (;;)
		pause();
}

static void lock_mutex(void)
{
	pthread_mutex_lock(&shared->mutex);
}

static void lock_mutex_and_hold(void)
{
	lock_mutex();
	hold();
}

static void lock_mutex_and_end(void)
{
	lock_mutex();
	shared->is_held = 1;
}

static void lock_file(int command, int fd)
{
	struct flock lock = {.l_type = F_WRLCK};

	if (fcntl(fd, command, &lock) < 0)
		_exit(1);
}

static int open_file(void)
{
	return open(shared->path, O_RDWR | O_CLOEXEC);
}

static void own_description(void)
{
	lock_file(F_OFD_SETLKW, open_file());
}

static void own_description_and_hold(void)
{
	own_description();
	hold();
}

static void inherited_description_and_hold(void)
{
	lock_file(F_OFD_SETLKW, shared->path_fd);
	hold();
}

static void own_process(void)
{
	lock_file(F_SETLKW, open_file());
}

static void own_process_and_hold(void)
{
	own_process();
	hold();
}

static void setup(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	strcpy(shared->path, "/tmp/stageprof-lock-XXXXXX");
	shared->path_fd = mkstemp(shared->path);
	ck_assert_int_ge(shared->path_fd, 0);
}

static void teardown(void)
{
	close(shared->path_fd);
	unlink(shared->path);
}

static void make_mutex(int protocol, int robust)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutexattr_setrobust(&attributes, robust);
	ck_assert_int_eq(pthread_mutex_init(&shared->mutex, &attributes), 0);
}

/* The holder and the waiter are children of the test: neither is the other's parent. */
static void check_mutex(int protocol, int robust)
{
	struct sp_live_lock lock;
	pid_t holder, waiter;

	make_mutex(protocol, robust);
	holder = child(lock_mutex_and_hold);
	wait_until_held();
	waiter = child(lock_mutex);
	lock = lock_of(waiter);
	ck_assert_int_eq(lock.what, SP_LIVE_LOCK_SHARED);
	ck_assert_int_eq(lock.holder, holder);
	ck_assert_int_eq(lock.holder_tid, holder);
	ck_assert_str_ne(lock.holder_is, "");
	end(waiter);
	end(holder);
}

START_TEST(a_mutex_of_processes)
{
	check_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}
END_TEST

START_TEST(a_robust_mutex)
{
	check_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
}
END_TEST

START_TEST(a_mutex_that_inherits_priorities)
{
	check_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
}
END_TEST

START_TEST(a_mutex_whose_holder_has_ended)
{
	struct sp_live_lock lock;
	pid_t holder, waiter;

	make_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	holder = child(lock_mutex_and_end);
	waitpid(holder, NULL, 0);
	waiter = child(lock_mutex);
	lock = lock_of(waiter);
	ck_assert_int_eq(lock.what, SP_LIVE_LOCK_SHARED);
	ck_assert_int_eq(lock.holder, 0);
	ck_assert_int_eq(lock.holder_tid, holder);
	end(waiter);
}
END_TEST

/* This process has it, and its children as it was at the fork. */
static sem_t semaphore;

static void wait_for_semaphore(void)
{
	sem_wait(&semaphore);
}

static void wait_for_word(void)
{
	static uint32_t word = 7;

	syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 7, NULL, NULL, 0);
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void wait_beside_a_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_on, NULL);
	wait_for_semaphore();
}

/* Python's lock and a lock of malloc or OpenMP: both name no holder. */
START_TEST(the_only_thread_waits_for_its_process)
{
	static void (*const waits[])(void) = {wait_for_semaphore, wait_for_word};
	struct sp_live_lock lock;
	pid_t waiter;

	sem_init(&semaphore, 0, 0);
	waiter = child(waits[_i]);
	lock = lock_of(waiter);
	ck_assert_int_eq(lock.what, SP_LIVE_LOCK_ALONE);
	ck_assert_int_eq(lock.holder, getpid());
	end(waiter);
}
END_TEST

START_TEST(another_thread_may_release)
{
	struct sp_live_sleep sleep = {.call = 0};
	struct sp_live_lock lock;
	pid_t waiter;

	sem_init(&semaphore, 0, 0);
	waiter = child(wait_beside_a_thread);
	for (int i = 0; i < TURNS && !sp_live_sleep((uint32_t)waiter, (uint32_t)waiter, &sleep);
	     i++)
		nap();
	ck_assert_int_eq(sleep.call, SYS_futex);
	ck_assert_int_lt(sp_live_lock((uint32_t)waiter, (uint32_t)waiter, &lock), 0);
	end(waiter);
}
END_TEST

static void check_file(void (*take)(void), void (*ask)(void))
{
	struct sp_live_lock lock;
	pid_t holder = child(take), waiter;

	wait_until_held();
	waiter = child(ask);
	lock = lock_of(waiter);
	ck_assert_int_eq(lock.what, SP_LIVE_LOCK_FILE);
	ck_assert_str_eq(lock.file, shared->path);
	ck_assert_int_eq(lock.holder, holder);
	end(waiter);
	end(holder);
}

START_TEST(a_lock_of_a_description)
{
	check_file(own_description_and_hold, own_description);
}
END_TEST

START_TEST(a_process_waits_for_a_description)
{
	check_file(own_description_and_hold, own_process);
}
END_TEST

START_TEST(a_description_waits_for_a_process)
{
	check_file(own_process_and_hold, own_description);
}
END_TEST

/* The test has the descriptor too, and so has the waiter: the parent holds it for all. */
START_TEST(a_description_that_a_fork_shares)
{
	struct sp_live_lock lock;
	pid_t holder = child(inherited_description_and_hold), waiter;

	wait_until_held();
	waiter = child(own_description);
	lock = lock_of(waiter);
	ck_assert_int_eq(lock.what, SP_LIVE_LOCK_FILE);
	ck_assert_int_eq(lock.holder, getpid());
	end(waiter);
	end(holder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live_lock");
	TCase *tcase = tcase_create("live_lock");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_mutex_of_processes);
	tcase_add_loop_test(tcase, the_only_thread_waits_for_its_process, 0, 2);
	tcase_add_test(tcase, another_thread_may_release);
	tcase_add_test(tcase, a_robust_mutex);
	tcase_add_test(tcase, a_mutex_that_inherits_priorities);
	tcase_add_test(tcase, a_mutex_whose_holder_has_ended);
	tcase_add_test(tcase, a_lock_of_a_description);
	tcase_add_test(tcase, a_process_waits_for_a_description);
	tcase_add_test(tcase, a_description_waits_for_a_process);
	tcase_add_test(tcase, a_description_that_a_fork_shares);
	suite_add_tcase(suite, tcase);
	return sp_suite_run(suite);
}
