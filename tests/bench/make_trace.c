/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_trace RUN EVENTS THREADS NAMES: a trace of a made-up loader, written by the recorder itself,
 * for measuring the analyzer. Every thread opens files of its own share of the NAMES, reads them in
 * pieces, decodes an image and waits now and then, with durations that spread as in real runs.
 * Made-up times begin now and go on at their own pace. The same arguments give the same events.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/settings/config.h"
#include "preload/recorder/process_image.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/log_once.h"
#include "preload/recorder/thread.h"
#include "tests/bench/loop.h"

#define READS_A_FILE 6u
#define LINES 480
#define FILE_ID(n) ((uint32_t)SP_FILE_REGULAR << SP_FILE_TYPE_SHIFT | (n))

struct maker {
	uint64_t events; /* to make */
	uint32_t first_name, names;
	uint64_t random, now;
	struct sp_thread *thread;
};

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014. */
static uint64_t draw(struct maker *m)
{
	uint64_t z = m->random += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

/* Most calls take `usual_ns` and up to a quarter more, some of them up to a hundred times that. */
static uint64_t ticks_of(struct maker *m, uint64_t usual_ns)
{
	uint64_t r = draw(m), usual = usual_ns * sp_recorder_clock.ticks_per_second / 1000000000u;
	uint64_t tail = (r & 63) == 0 ? (r >> 6) % (usual * 100) : 0;

	return (usual + (r >> 32) % (usual / 4) + tail) / sp_recorder_clock.grain *
	       sp_recorder_clock.grain;
}

static void call(struct maker *m, uint32_t kind, uint32_t arg, uint64_t usual_ns, int64_t value)
{
	uint64_t ticks = ticks_of(m, usual_ns);

	m->now += ticks_of(m, 80);
	sp_emit(m->thread, kind, arg, m->now, ticks, value);
	m->now += ticks;
}

static void image(struct maker *m)
{
	uint64_t ticks = ticks_of(m, 2000000);
	uint64_t extra[3] = {ticks - ticks / 8, (uint64_t)640 << 32 | LINES, SP_DECODE_FINISHED};

	m->now += ticks_of(m, 80);
	sp_emit_extra(m->thread, SP_EV_jpeg_decode, 0, m->now, ticks, LINES, extra);
	m->now += ticks;
}

static void define_names(struct maker *m)
{
	struct sp_file_metadata facts = {.type = SP_FILE_REGULAR, .fd = 3, .device = 1};
	char path[128];

	for (uint32_t i = 0; i < m->names; i++) {
		uint32_t n = m->first_name + i;
		int length = snprintf(path, sizeof(path), "/data/images/class-%02u/photo-%08u.jpg",
				      n % 100, n);

		facts.inode = n;
		sp_define(m->thread, SP_DEFINE_FILE, FILE_ID(n), &facts, sizeof(facts), path,
			  (size_t)length);
	}
}

static void *make(void *argument)
{
	struct maker *m = argument;
	uint64_t made = 0;

	m->thread = sp_enter();
	bench_require(m->thread != NULL, "the recorder");
	m->now = sp_clock_ticks();
	define_names(m);
	while (made < m->events) {
		uint32_t file = FILE_ID(m->first_name + (uint32_t)(draw(m) % m->names));
		uint64_t left = m->events - made;

		call(m, SP_EV_open, file, 4000, 3);
		for (unsigned i = 0; i < READS_A_FILE && i + 3 < left; i++)
			call(m, SP_EV_read, file, 1500,
			     i + 1 < READS_A_FILE ? 16384 : (int64_t)(draw(m) & 0x3FFF));
		if (left >= READS_A_FILE + 3)
			image(m);
		if (left >= 2)
			call(m, SP_EV_close, file, 400, 0);
		made += left >= READS_A_FILE + 3 ? READS_A_FILE + 3 : left;
	}
	sp_thread_finish();
	return NULL;
}

static void recorder_begin(const char *run)
{
	setenv("STAGEPROF_OUTPUT", run, 1);
	unsetenv("STAGEPROF_RUN");
	sp_log_init();
	sp_config_read(environ);
	bench_require(sp_process_init() == 1, "the recorder");
	sp_thread_init();
}

int main(int argc, char **argv)
{
	uint64_t events, threads, names;
	pthread_t thread;

	if (argc != 5)
		return 2;
	events = strtoull(argv[2], NULL, 10);
	threads = strtoull(argv[3], NULL, 10);
	names = strtoull(argv[4], NULL, 10);
	if (!threads || names < threads || events < threads)
		return 2;
	recorder_begin(argv[1]);
	for (uint64_t i = 0; i < threads; i++) {
		struct maker m = {.events = events / threads + (i < events % threads),
				  .first_name = (uint32_t)(i * (names / threads)) + 1,
				  .names = (uint32_t)(names / threads),
				  .random = i};

		bench_require(!pthread_create(&thread, NULL, make, &m), "pthread_create");
		pthread_join(thread, NULL);
	}
	return 0;
}
