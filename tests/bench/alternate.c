/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/alternate.h"

#include <dlfcn.h>
#include <pthread.h>

#include "tests/bench/loop.h"

struct spent {
	uint64_t wall_ns, cpu_ns;
};

static const struct bench_alternate *work;
static pthread_barrier_t start, end;

void *bench_own(const char *beside, const char *name)
{
	Dl_info there, found;
	void *function;

	bench_require(dladdr(dlsym(RTLD_DEFAULT, beside), &there), beside);
	function = dlsym(dlopen(there.dli_fname, RTLD_LAZY | RTLD_NOLOAD), name);
	bench_require(function && dladdr(function, &found) && found.dli_fbase == there.dli_fbase,
		      name);
	return function;
}

/* The sort of the n-th chunk: bare hooked hooked bare, and so on,
 * so that a drift favours neither. */
static int is_hooked(unsigned n)
{
	return (n + 1) >> 1 & 1;
}

static unsigned chunks_of_pair(void)
{
	return 2 * work->chunks;
}

static void *worker(void *argument)
{
	void *state = work->state();

	(void)argument;
	for (unsigned pair = 0; pair <= work->pairs; pair++) {
		for (unsigned n = 0; n < chunks_of_pair(); n++) {
			pthread_barrier_wait(&start);
			work->chunk(state, is_hooked(n));
			pthread_barrier_wait(&end);
		}
	}
	return NULL;
}

static void chunk(void *state, int hooked)
{
	if (state) {
		work->chunk(state, hooked);
		return;
	}
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&end);
}

/* `state`: the first thread's own, or NULL where workers do the work. */
static void pair_run(struct spent spent[2], void *state)
{
	for (unsigned n = 0; n < chunks_of_pair(); n++) {
		struct spent *s = &spent[is_hooked(n)];
		uint64_t cpu = bench_ns(CLOCK_PROCESS_CPUTIME_ID), wall = bench_ns(CLOCK_MONOTONIC);

		chunk(state, is_hooked(n));
		s->wall_ns += bench_ns(CLOCK_MONOTONIC) - wall;
		s->cpu_ns += bench_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	}
}

static void show(const char *name, struct spent (*spent)[2], int hooked)
{
	printf("\"%s\": {\"wall_ns\": [", name);
	for (unsigned i = 0; i < work->pairs; i++)
		printf("%s%lu", i ? ", " : "", spent[i][hooked].wall_ns);
	printf("], \"cpu_ns\": [");
	for (unsigned i = 0; i < work->pairs; i++)
		printf("%s%lu", i ? ", " : "", spent[i][hooked].cpu_ns);
	printf("]}");
}

static void workers_start(void)
{
	pthread_t thread;

	pthread_barrier_init(&start, NULL, work->threads + 1);
	pthread_barrier_init(&end, NULL, work->threads + 1);
	for (unsigned i = 0; i < work->threads; i++) {
		bench_require(!pthread_create(&thread, NULL, worker, NULL), "pthread_create");
		pthread_detach(thread);
	}
}

void bench_alternate(const struct bench_alternate *a)
{
	struct spent(*spent)[2] = calloc(a->pairs, sizeof(*spent)), warm[2] = {{0, 0}, {0, 0}};
	void *state = NULL;

	work = a;
	bench_require(spent != NULL, "memory");
	if (a->threads > 1)
		workers_start();
	else
		state = a->state();
	/* Not counted: the run begins in it, and each thread's window grows to its full size. */
	pair_run(warm, state);
	for (unsigned i = 0; i < a->pairs; i++)
		pair_run(spent[i], state);
	printf("{\"calls\": %lu, ", a->chunk_calls * a->chunks * a->threads);
	show("bare", spent, 0);
	printf(", ");
	show("hooked", spent, 1);
	printf("}\n");
	free(spent);
}
