/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits NAME: 10 waits of 20 ms and 200 that do not wait, in one function. A short wait that took
 * 50 µs or more as seen from here (a busy machine) may be recorded or not, as may a long one that
 * never slept: these count as begun only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/victims/blocked.h"
#include "tests/programs/victims/tally.h"

enum { LONG_MS = 20, LONG_NS = LONG_MS * 1000000, SHORT_NS = 50 * 1000 };

static struct pollfd never;
static int epoll_fd;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct timespec after(clockid_t clock, long ns)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void in_poll(long ns)
{
	EXPECT(poll(&never, 1, (int)(ns / 1000000)) == 0);
}

static void in_ppoll(long ns)
{
	struct timespec t = {0, ns};

	EXPECT(ppoll(&never, 1, &t, NULL) == 0);
}

static void in_select(long ns)
{
	struct timeval t = {0, ns / 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(never.fd, &set);
	EXPECT(select(never.fd + 1, &set, NULL, NULL, &t) == 0);
}

static void in_pselect(long ns)
{
	struct timespec t = {0, ns};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(never.fd, &set);
	EXPECT(pselect(never.fd + 1, &set, NULL, NULL, &t, NULL) == 0);
}

static void in_epoll_wait(long ns)
{
	struct epoll_event event;

	EXPECT(epoll_wait(epoll_fd, &event, 1, (int)(ns / 1000000)) == 0);
}

static void in_epoll_pwait(long ns)
{
	struct epoll_event event;

	EXPECT(epoll_pwait(epoll_fd, &event, 1, (int)(ns / 1000000), NULL) == 0);
}

static void in_sem_timedwait(long ns)
{
	struct timespec t = after(CLOCK_REALTIME, ns);

	if (ns == 0)
		sem_post(&semaphore);
	EXPECT((sem_timedwait(&semaphore, &t) == 0) == (ns == 0));
}

static void in_sem_clockwait(long ns)
{
	struct timespec t = after(CLOCK_MONOTONIC, ns);

	if (ns == 0)
		sem_post(&semaphore);
	EXPECT((sem_clockwait(&semaphore, CLOCK_MONOTONIC, &t) == 0) == (ns == 0));
}

static void *post_later(void *ns)
{
	struct timespec wait = {0, (long)(intptr_t)ns};

	wait_until_blocked_in((int)syscall(SYS_getpid), SYS_futex);
	syscall(SYS_nanosleep, &wait, NULL);
	pthread_mutex_lock(&mutex);
	sem_post(&semaphore);
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void in_sem_wait(long ns)
{
	pthread_t poster;

	if (ns == 0)
		sem_post(&semaphore);
	else
		EXPECT(pthread_create(&poster, NULL, post_later, (void *)ns) == 0);
	EXPECT(sem_wait(&semaphore) == 0);
	if (ns)
		pthread_join(poster, NULL);
}

static void in_cond_wait(long ns)
{
	pthread_t poster;

	if (ns == 0)
		return;
	EXPECT(pthread_create(&poster, NULL, post_later, (void *)ns) == 0);
	pthread_mutex_lock(&mutex);
	EXPECT(pthread_cond_wait(&condition, &mutex) == 0);
	pthread_mutex_unlock(&mutex);
	pthread_join(poster, NULL);
	EXPECT(sem_trywait(&semaphore) == 0);
}

static void in_cond_timedwait(long ns)
{
	struct timespec t = after(CLOCK_REALTIME, ns);

	pthread_mutex_lock(&mutex);
	EXPECT(pthread_cond_timedwait(&condition, &mutex, &t) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
}

static void in_cond_clockwait(long ns)
{
	struct timespec t = after(CLOCK_MONOTONIC, ns);

	pthread_mutex_lock(&mutex);
	EXPECT(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &t) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
}

/* A child that lives for so long; 0: none, and the wait fails at once. */
static pid_t child_for(long ns)
{
	struct timespec life = {0, ns};
	pid_t pid = ns ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : -1;

	if (pid == 0) {
		syscall(SYS_nanosleep, &life, NULL);
		syscall(SYS_exit_group, 0);
	}
	return pid;
}

static void in_waitpid(long ns)
{
	pid_t pid = child_for(ns);

	EXPECT(waitpid(pid, NULL, 0) == pid);
}

static void in_wait4(long ns)
{
	pid_t pid = child_for(ns);

	EXPECT(wait4(pid, NULL, 0, NULL) == pid);
}

static void in_waitid(long ns)
{
	pid_t pid = child_for(ns);
	siginfo_t info;

	EXPECT((waitid(P_ALL, 0, &info, WEXITED) == 0) == (pid > 0));
}

static void in_nanosleep(long ns)
{
	struct timespec t = {0, ns};

	EXPECT(nanosleep(&t, NULL) == 0);
}

static void in_clock_nanosleep(long ns)
{
	struct timespec t = after(CLOCK_MONOTONIC, ns);

	EXPECT(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0);
}

static void in_usleep(long ns)
{
	EXPECT(usleep((useconds_t)(ns / 1000)) == 0);
}

static void in_sleep(long ns)
{
	EXPECT(sleep(ns ? 1 : 0) == 0);
}

static const struct {
	const char *name;
	void (*wait)(long ns);
} functions[] = {
	{"poll", in_poll},
	{"ppoll", in_ppoll},
	{"select", in_select},
	{"pselect", in_pselect},
	{"epoll_wait", in_epoll_wait},
	{"epoll_pwait", in_epoll_pwait},
	{"sem_wait", in_sem_wait},
	{"sem_timedwait", in_sem_timedwait},
	{"sem_clockwait", in_sem_clockwait},
	{"cond_wait", in_cond_wait},
	{"cond_timedwait", in_cond_timedwait},
	{"cond_clockwait", in_cond_clockwait},
	{"waitpid", in_waitpid},
	{"wait4", in_wait4},
	{"waitid", in_waitid},
	{"nanosleep", in_nanosleep},
	{"clock_nanosleep", in_clock_nanosleep},
	{"usleep", in_usleep},
	{"sleep", in_sleep},
};

/* A deadline may be over before a busy machine lets the thread wait for it. */
static long times_blocked(void)
{
	struct rusage usage;

	EXPECT(syscall(SYS_getrusage, RUSAGE_THREAD, &usage) == 0);
	return usage.ru_nvcsw;
}

static void run(const char *name, void (*wait)(long ns))
{
	struct tally_row *row = tally_row(strstr(name, "sleep") ? "sleep" : "wait", name);

	for (int i = 0; i < 10; i++) {
		long before = times_blocked();

		tally_begin(row);
		wait(LONG_NS);
		if (times_blocked() > before)
			tally_end(row, 0);
	}
	for (int i = 0; i < 200; i++) {
		uint64_t start = now_ns();

		wait(0);
		if (now_ns() - start >= SHORT_NS)
			tally_begin(row);
	}
}

int main(int argc, char **argv)
{
	never.fd = eventfd(0, 0);
	never.events = POLLIN;
	epoll_fd = epoll_create1(0);
	sem_init(&semaphore, 0, 0);
	EXPECT(never.fd >= 0 && epoll_fd >= 0);
	/* A first call may take its time; a deadline must not pass in it. */
	TALLY(tally_row("wait", "first"), poll(&never, 1, 2));
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (argc < 2 || strcmp(functions[i].name, argv[1]) == 0)
			run(functions[i].name, functions[i].wait);
	puts("done");
	return 0;
}
