/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for others, or for a time. Only waits of sp_recorder_clock.long_wait_ticks (100
 * µs) and longer are events: a loop that polls without waiting costs two readings of the clock.
 * During the call the thread's mark names it. All of them are cancellation points: SP_SPAN closes
 * the span on unwinding.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"

/* The number of descriptors among which the file that ended a wait is looked for. */
#define LOOKED_AT 1024

/* For <semaphore.h> and <pthread.h>: the low half of an object's address. */
static uint32_t object_of(const void *object)
{
	return (uint32_t)(uintptr_t)object;
}

static int is_long(const struct sp_open_span *span, uint64_t end)
{
	return end - span->start >= sp_recorder_clock.long_wait_ticks;
}

/* The first ready descriptor, else the first of all. The array is read only after the kernel has
 * read it, so that a bad pointer stays the caller's EFAULT. */
static int poll_fd(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n && i < LOOKED_AT; i++)
		if (fds[i].revents)
			return fds[i].fd;
	return n ? fds[0].fd : -1;
}

static int poll_end(struct sp_open_span *span, const struct pollfd *fds, nfds_t n, int ret)
{
	uint64_t end = sp_clock_ticks();
	int64_t value = SP_RESULT(ret);

	if (!is_long(span, end)) {
		sp_span_drop(span);
		return ret;
	}
	if (ret >= 0 && poll_fd(fds, n) >= 0)
		sp_span_set_arg(span, sp_fd_file(span->thread, poll_fd(fds, n)));
	sp_span_close_at(span, end, value);
	return ret;
}

SP_HOOK(int, poll, struct pollfd *fds, nfds_t n, int timeout_ms)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return SP_REAL(poll)(fds, n, timeout_ms);
	SP_SPAN(span, t, SP_EV_poll, 0);
	return poll_end(&span, fds, n, SP_REAL(poll)(fds, n, timeout_ms));
}

SP_HOOK(int, __poll_chk, struct pollfd *fds, nfds_t n, int timeout_ms, size_t room)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return SP_REAL(__poll_chk)(fds, n, timeout_ms, room);
	SP_SPAN(span, t, SP_EV_poll, 0);
	return poll_end(&span, fds, n, SP_REAL(__poll_chk)(fds, n, timeout_ms, room));
}

SP_HOOK(int, ppoll, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	const sigset_t *mask)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return SP_REAL(ppoll)(fds, n, timeout, mask);
	SP_SPAN(span, t, SP_EV_poll, 0);
	return poll_end(&span, fds, n, SP_REAL(ppoll)(fds, n, timeout, mask));
}

SP_HOOK(int, __ppoll_chk, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	const sigset_t *mask, size_t room)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return SP_REAL(__ppoll_chk)(fds, n, timeout, mask, room);
	SP_SPAN(span, t, SP_EV_poll, 0);
	return poll_end(&span, fds, n, SP_REAL(__ppoll_chk)(fds, n, timeout, mask, room));
}

/* The first descriptor that select left in a set, or -1. A set may have fewer bits than FD_SETSIZE,
 * as n says, or more. */
static int set_fd(const fd_set *set, int n)
{
	const fd_mask *words = set ? (const fd_mask *)set->fds_bits : NULL;

	for (int fd = 0; words && fd < n && fd < LOOKED_AT; fd++)
		if ((words[fd / NFDBITS] >> (fd % NFDBITS)) & 1)
			return fd;
	return -1;
}

static int sets_fd(const fd_set *const sets[3], int n)
{
	int fd = -1;

	for (int i = 0; i < 3 && fd < 0; i++)
		fd = set_fd(sets[i], n);
	return fd;
}

static int select_end(struct sp_open_span *span, const fd_set *const sets[3], int n, int ret)
{
	uint64_t end = sp_clock_ticks();
	int64_t value = SP_RESULT(ret);
	int fd;

	if (!is_long(span, end)) {
		sp_span_drop(span);
		return ret;
	}
	fd = ret > 0 ? sets_fd(sets, n) : -1;
	if (fd >= 0)
		sp_span_set_arg(span, sp_fd_file(span->thread, fd));
	sp_span_close_at(span, end, value);
	return ret;
}

SP_HOOK(int, select, int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *timeout)
{
	const fd_set *const sets[3] = {r, w, x};
	struct sp_thread *t = sp_enter();

	if (!t)
		return SP_REAL(select)(n, r, w, x, timeout);
	SP_SPAN(span, t, SP_EV_select, 0);
	return select_end(&span, sets, n, SP_REAL(select)(n, r, w, x, timeout));
}

SP_HOOK(int, pselect, int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *timeout,
	const sigset_t *mask)
{
	const fd_set *const sets[3] = {r, w, x};
	struct sp_thread *t = sp_enter();

	if (!t)
		return SP_REAL(pselect)(n, r, w, x, timeout, mask);
	SP_SPAN(span, t, SP_EV_select, 0);
	return select_end(&span, sets, n, SP_REAL(pselect)(n, r, w, x, timeout, mask));
}

SP_HOOK_WAIT(int, epoll_wait, SP_EV_epoll_wait, sp_fd_file(t, fd), SP_RESULT(ret),
	     (int fd, struct epoll_event *events, int n, int timeout_ms),
	     (fd, events, n, timeout_ms))

SP_HOOK_WAIT(int, epoll_pwait, SP_EV_epoll_wait, sp_fd_file(t, fd), SP_RESULT(ret),
	     (int fd, struct epoll_event *events, int n, int timeout_ms, const sigset_t *mask),
	     (fd, events, n, timeout_ms, mask))

SP_HOOK_WAIT(int, epoll_pwait2, SP_EV_epoll_wait, sp_fd_file(t, fd), SP_RESULT(ret),
	     (int fd, struct epoll_event *events, int n, const struct timespec *timeout,
	      const sigset_t *mask),
	     (fd, events, n, timeout, mask))

SP_HOOK_WAIT(int, sem_wait, SP_EV_sem_wait, object_of(semaphore), SP_RESULT(ret),
	     (sem_t * semaphore), (semaphore))

SP_HOOK_WAIT(int, sem_timedwait, SP_EV_sem_wait, object_of(semaphore), SP_RESULT(ret),
	     (sem_t * semaphore, const struct timespec *until), (semaphore, until))

SP_HOOK_WAIT(int, sem_clockwait, SP_EV_sem_wait, object_of(semaphore), SP_RESULT(ret),
	     (sem_t * semaphore, clockid_t clock, const struct timespec *until),
	     (semaphore, clock, until))

/* pthread functions return the error itself. */
SP_HOOK_WAIT(int, pthread_cond_wait, SP_EV_cond_wait, object_of(condition), -ret,
	     (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))

SP_HOOK_WAIT(int, pthread_cond_timedwait, SP_EV_cond_wait, object_of(condition), -ret,
	     (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
	     (condition, mutex, until))

SP_HOOK_WAIT(int, pthread_cond_clockwait, SP_EV_cond_wait, object_of(condition), -ret,
	     (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock,
	      const struct timespec *until),
	     (condition, mutex, clock, until))

SP_HOOK_WAIT(pid_t, wait, SP_EV_child_wait, 0, SP_RESULT(ret), (int *status), (status))

SP_HOOK_WAIT(pid_t, waitpid, SP_EV_child_wait, 0, SP_RESULT(ret),
	     (pid_t pid, int *status, int options), (pid, status, options))

SP_HOOK_WAIT(pid_t, wait3, SP_EV_child_wait, 0, SP_RESULT(ret),
	     (int *status, int options, struct rusage *usage), (status, options, usage))

SP_HOOK_WAIT(pid_t, wait4, SP_EV_child_wait, 0, SP_RESULT(ret),
	     (pid_t pid, int *status, int options, struct rusage *usage),
	     (pid, status, options, usage))

SP_HOOK_WAIT(int, waitid, SP_EV_child_wait, 0, SP_RESULT(ret),
	     (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))

SP_HOOK_WAIT(int, nanosleep, SP_EV_sleep, 0, SP_RESULT(ret),
	     (const struct timespec *time, struct timespec *left), (time, left))

SP_HOOK_WAIT(int, clock_nanosleep, SP_EV_sleep, 0, -ret,
	     (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
	     (clock, flags, time, left))

SP_HOOK_WAIT(int, usleep, SP_EV_sleep, 0, SP_RESULT(ret), (useconds_t us), (us))

/* The seconds that are left, after a signal. */
SP_HOOK_WAIT(unsigned, sleep, SP_EV_sleep, 0, ret ? -EINTR : 0, (unsigned seconds), (seconds))
