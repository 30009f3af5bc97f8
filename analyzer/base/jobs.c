/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pool {
	int (*work)(void *context, unsigned worker, uint32_t i);
	void *context;
	uint32_t n;
	_Atomic uint32_t next;
	pthread_mutex_t lock;
	uint32_t failed_at;
	int result;
};

struct job_thread {
	struct pool *pool;
	unsigned number;
	pthread_t thread;
};

unsigned sp_jobs_default(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	return CPU_COUNT(&set) > 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void fail(struct pool *pool, uint32_t i, int r)
{
	pthread_mutex_lock(&pool->lock);
	if (pool->result == 0 || i < pool->failed_at) {
		pool->result = r;
		pool->failed_at = i;
	}
	pthread_mutex_unlock(&pool->lock);
	atomic_store(&pool->next, pool->n);
}

static void *drain(void *arg)
{
	struct job_thread *w = arg;
	struct pool *pool = w->pool;

	for (;;) {
		uint32_t i = atomic_load(&pool->next);

		do {
			if (i >= pool->n)
				return NULL;
		} while (!atomic_compare_exchange_weak(&pool->next, &i, i + 1));

		int r = pool->work(pool->context, w->number, i);

		if (r < 0)
			fail(pool, i, r);
	}
}

int sp_jobs_run(unsigned jobs, uint32_t n, int (*work)(void *context, unsigned worker, uint32_t i),
		void *context)
{
	struct pool pool = {.work = work, .context = context, .n = n};
	struct job_thread *workers;
	unsigned made = 0;

	if (jobs > n)
		jobs = n ? n : 1;
	workers = calloc(jobs, sizeof(*workers));
	if (!workers)
		return -ENOMEM;
	pthread_mutex_init(&pool.lock, NULL);
	for (unsigned i = 0; i < jobs; i++)
		workers[i] = (struct job_thread){.pool = &pool, .number = i};
	for (made = 1; made < jobs; made++)
		if (pthread_create(&workers[made].thread, NULL, drain, &workers[made]) != 0)
			break;
	drain(&workers[0]);
	for (unsigned i = 1; i < made; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&pool.lock);
	free(workers);
	return pool.result;
}
