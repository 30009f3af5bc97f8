/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of the launcher that looks at the run now and then, until the launcher ends it. */
#ifndef STAGEPROF_SCRIPTS_WATCH_THREAD_H
#define STAGEPROF_SCRIPTS_WATCH_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct sp_watch_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* of what is under the lock */
	bool is_ended;		/* under the lock */
};

/* Returns false where there is no thread. */
bool sp_watch_thread_start(struct sp_watch_thread *thread, void *(*run)(void *), void *argument);

/* Asks it to end; the caller joins it. */
void sp_watch_thread_end(struct sp_watch_thread *thread);

/* Under the lock: waits for a change, or until a time of sp_watch_now_ns(). Returns false when the
 * time has come. */
bool sp_watch_thread_wait(struct sp_watch_thread *thread, uint64_t until_ns);

uint64_t sp_watch_now_ns(void);

#endif
