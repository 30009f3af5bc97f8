/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/watch/watch_thread.h"

#include <errno.h>

#define NS_IN_S UINT64_C(1000000000)

bool sp_watch_thread_start(struct sp_watch_thread *thread, void *(*run)(void *), void *argument)
{
	pthread_condattr_t monotonic;

	thread->is_ended = false;
	pthread_mutex_init(&thread->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&thread->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return pthread_create(&thread->thread, NULL, run, argument) == 0;
}

void sp_watch_thread_end(struct sp_watch_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->is_ended = true;
	pthread_cond_broadcast(&thread->changed);
	pthread_mutex_unlock(&thread->lock);
}

bool sp_watch_thread_wait(struct sp_watch_thread *thread, uint64_t until_ns)
{
	struct timespec until = {(time_t)(until_ns / NS_IN_S), (long)(until_ns % NS_IN_S)};

	return pthread_cond_timedwait(&thread->changed, &thread->lock, &until) != ETIMEDOUT;
}

uint64_t sp_watch_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_IN_S + (uint64_t)t.tv_nsec;
}
