/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "count.h"
#include "fake_observer.h"

#define TOTAL_BYTES ((size_t)16 << 30)
#define PIECES_MAX 65536u
#define QUEUE_MAX 65536u
#define STAGED_BYTES_MAX 65536u /* a larger pageable copy to the device is waited for */

struct work {
	const char *kind, *name;
	int stream;
	int64_t put_ns, begin_ns, end_ns;
	size_t bytes;
};

struct sim_graph {
	struct work *work;
	uint32_t count, room;
};

struct sim_stream {
	int id;
	unsigned flags;
	int priority;
	int64_t free_ns; /* the end of its last work */
	int64_t *ends;	 /* of its last `queue` pieces of work: a ring */
	uint64_t put;
	struct sim_graph *captured;
	bool is_origin; /* of its capture */
	struct sim_stream *next;
};

struct sim_event {
	int64_t ns;
	struct sim_graph *captured;
};

struct piece {
	const char *start;
	size_t bytes;
	enum sim_memory kind;
	bool is_ours;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_stream default_stream = {.id = 7}, *streams = &default_stream;
static struct sim_graph log_of_all;
static struct piece pieces[PIECES_MAX];
static uint32_t piece_count;
static size_t used_bytes;
static int stream_count = 7;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec t = {ns / 1000000000, ns % 1000000000};

	while (now_ns() < ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static long setting(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value ? atol(value) : otherwise;
}

static uint32_t queue(void)
{
	static uint32_t known;

	if (!known) {
		long asked = setting("SIM_QUEUE", 1024);

		known = asked > 0 && asked < (long)QUEUE_MAX ? (uint32_t)asked : QUEUE_MAX;
	}
	return known;
}

/* "gemm=200000,elementwise=5000,20000" */
static int64_t kernel_ns(const char *name)
{
	const char *p = getenv("SIM_KERNEL_NS");
	char part[64];
	long ns;
	int n;

	while (p && *p) {
		if (sscanf(p, "%63[^=,]=%ld%n", part, &ns, &n) == 2) {
			if (strstr(name, part))
				return ns;
		} else if (sscanf(p, "%ld%n", &ns, &n) == 1) {
			return ns;
		} else {
			break;
		}
		p += n;
		p += *p == ',';
	}
	return 20000;
}

static void add_work(struct sim_graph *to, const struct work *work)
{
	if (to->count == to->room) {
		to->room = to->room ? 2 * to->room : 1024;
		to->work = realloc(to->work, to->room * sizeof(*to->work));
		if (!to->work)
			abort();
	}
	to->work[to->count++] = *work;
}

/* Holds the lock. The default stream and blocking streams wait for each other. */
static int64_t begin_of(struct sim_stream *stream)
{
	int64_t begin = now_ns();

	if (stream->free_ns > begin)
		begin = stream->free_ns;
	if (stream == &default_stream) {
		for (struct sim_stream *s = streams; s; s = s->next)
			if (!(s->flags & 1) && s->free_ns > begin)
				begin = s->free_ns;
	} else if (!(stream->flags & 1) && default_stream.free_ns > begin) {
		begin = default_stream.free_ns;
	}
	return begin;
}

static uint8_t direction_number(const char *kind)
{
	return !strcmp(kind, "h2d") ? 1 : !strcmp(kind, "d2h") ? 2 : !strcmp(kind, "d2d") ? 8 : 0;
}

/* Holds the lock. */
static void tell_observer(const struct work *work)
{
	const struct fake_observer *observer = __atomic_load_n(&fake_observer, __ATOMIC_ACQUIRE);
	struct fake_work told = {.kind = !strcmp(work->kind, "kernel") ? FAKE_WORK_KERNEL
					 : !strcmp(work->kind, "set")  ? FAKE_WORK_SET
								       : FAKE_WORK_COPY,
				 .bytes = work->bytes,
				 .name = work->name,
				 .direction = direction_number(work->kind),
				 .stream_id = (uint32_t)work->stream,
				 .correlation = fake_correlation};

	if (observer)
		observer->work(&told, (uint64_t)work->begin_ns, (uint64_t)work->end_ns);
}

/* Returns the time until which the caller has to wait for room in the queue. */
static int64_t put_work(struct sim_stream *stream, struct work work, int64_t ns)
{
	int64_t room_ns;

	if (!stream->ends) {
		stream->ends = calloc(queue(), sizeof(*stream->ends));
		if (!stream->ends)
			abort();
	}
	room_ns = stream->ends[stream->put % queue()];
	work.stream = stream->id;
	work.put_ns = now_ns();
	work.begin_ns = begin_of(stream);
	work.end_ns = work.begin_ns + ns;
	stream->ends[stream->put++ % queue()] = stream->free_ns = work.end_ns;
	add_work(&log_of_all, &work);
	tell_observer(&work);
	return room_ns;
}

static void put(struct sim_stream *stream, struct work work, int64_t ns)
{
	int64_t room_ns = 0;

	pthread_mutex_lock(&lock);
	if (stream->captured) {
		work.end_ns = ns;
		add_work(stream->captured, &work);
	} else {
		room_ns = put_work(stream, work, ns);
	}
	pthread_mutex_unlock(&lock);
	sleep_until(room_ns);
}

struct sim_stream *sim_stream_of(void *handle)
{
	return (uintptr_t)handle <= 2 ? &default_stream : handle;
}

struct sim_stream *sim_stream_make(unsigned flags, int priority)
{
	struct sim_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		abort();
	pthread_mutex_lock(&lock);
	stream->flags = flags;
	stream->priority = priority;
	stream->id = ++stream_count;
	stream->next = streams;
	streams = stream;
	pthread_mutex_unlock(&lock);
	return stream;
}

unsigned sim_stream_flags(const struct sim_stream *stream)
{
	return stream->flags;
}

int sim_stream_priority(const struct sim_stream *stream)
{
	return stream->priority;
}

static int64_t free_ns_of(struct sim_stream *stream)
{
	int64_t ns;

	pthread_mutex_lock(&lock);
	ns = stream == &default_stream ? begin_of(stream) : stream->free_ns;
	pthread_mutex_unlock(&lock);
	return ns;
}

int64_t sim_stream_begin_ns(struct sim_stream *stream)
{
	int64_t ns;

	pthread_mutex_lock(&lock);
	ns = begin_of(stream);
	pthread_mutex_unlock(&lock);
	return ns;
}

void sim_stream_wait(struct sim_stream *stream)
{
	sleep_until(free_ns_of(stream));
}

bool sim_stream_is_idle(struct sim_stream *stream)
{
	return free_ns_of(stream) <= now_ns();
}

void sim_streams_wait(void)
{
	int64_t ns = 0;

	pthread_mutex_lock(&lock);
	for (struct sim_stream *s = streams; s; s = s->next)
		ns = s->free_ns > ns ? s->free_ns : ns;
	pthread_mutex_unlock(&lock);
	sleep_until(ns);
}

struct sim_event *sim_event_make(void)
{
	struct sim_event *event = calloc(1, sizeof(*event));

	if (!event)
		abort();
	event->ns = -1;
	return event;
}

void sim_event_record(struct sim_event *event, struct sim_stream *stream)
{
	pthread_mutex_lock(&lock);
	event->captured = stream->captured;
	if (!stream->captured)
		event->ns = begin_of(stream);
	pthread_mutex_unlock(&lock);
}

/* A stream that waits for an event of a capture takes part in the capture. */
void sim_event_follow(struct sim_event *event, struct sim_stream *stream)
{
	pthread_mutex_lock(&lock);
	if (event->captured)
		stream->captured = event->captured;
	else if (event->ns > stream->free_ns)
		stream->free_ns = event->ns;
	pthread_mutex_unlock(&lock);
}

int64_t sim_event_ns(struct sim_event *event)
{
	int64_t ns;

	pthread_mutex_lock(&lock);
	ns = event->ns;
	pthread_mutex_unlock(&lock);
	return ns;
}

void sim_event_wait(struct sim_event *event)
{
	sleep_until(sim_event_ns(event));
}

bool sim_event_is_done(struct sim_event *event)
{
	return sim_event_ns(event) <= now_ns();
}

void sim_named_put(struct sim_stream *stream, const char *name)
{
	put(stream, (struct work){.kind = "kernel", .name = name}, kernel_ns(name));
}

void sim_kernel_put(struct sim_stream *stream, const struct sim_kernel *kernel)
{
	put(stream, (struct work){.kind = "kernel", .name = kernel->name},
	    kernel->ns ? kernel->ns : kernel_ns(kernel->name));
}

static bool reaches(const void *address)
{
	return sim_memory_of(address) != SIM_PAGEABLE;
}

static const char *direction_of(const void *to, const void *from)
{
	bool to_device = sim_memory_of(to) == SIM_DEVICE;
	bool from_device = sim_memory_of(from) == SIM_DEVICE;

	return to_device ? from_device ? "d2d" : "h2d" : from_device ? "d2h" : "h2h";
}

void sim_copy_put(struct sim_stream *stream, void *to, const void *from, size_t bytes,
		  const char *direction)
{
	bool is_pageable = !reaches(to) || !reaches(from);
	int64_t ns = (int64_t)(bytes / 1024 + 1) * setting("SIM_COPY_NS_PER_KIB", 100);
	struct work work = {.kind = direction ? direction : direction_of(to, from),
			    .name = is_pageable ? "pageable" : "pinned",
			    .bytes = bytes};

	put(stream, work, is_pageable ? 2 * ns : ns);
	if (stream->captured)
		return;
	if (!strcmp(work.kind, "d2h") && bytes <= sizeof(uint64_t) && getenv("SIM_ZERO_SCALARS"))
		memset(to, 0, bytes);
	else if (bytes <= STAGED_BYTES_MAX || !getenv("SIM_NO_DATA"))
		memmove(to, from, bytes);
	if (is_pageable && (!reaches(to) || bytes > STAGED_BYTES_MAX))
		sim_stream_wait(stream);
}

void sim_set_put(struct sim_stream *stream, void *to, int byte, size_t bytes)
{
	int64_t ns = (int64_t)(bytes / 1024 + 1) * setting("SIM_COPY_NS_PER_KIB", 100) / 10;

	put(stream, (struct work){.kind = "set", .name = "memset", .bytes = bytes}, ns);
	if (!stream->captured)
		memset(to, byte, bytes);
}

void sim_capture_begin(struct sim_stream *stream)
{
	struct sim_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		abort();
	pthread_mutex_lock(&lock);
	stream->captured = graph;
	stream->is_origin = true;
	pthread_mutex_unlock(&lock);
}

struct sim_graph *sim_capture_of(struct sim_stream *stream)
{
	return stream->captured;
}

struct sim_graph *sim_capture_end(struct sim_stream *stream)
{
	struct sim_graph *graph = stream->captured;

	pthread_mutex_lock(&lock);
	for (struct sim_stream *s = streams; s; s = s->next)
		if (s->captured == graph)
			s->captured = NULL;
	stream->is_origin = false;
	pthread_mutex_unlock(&lock);
	return graph;
}

/* One piece of work after the other, though a real graph may run some beside each other. */
void sim_graph_put(struct sim_stream *stream, const struct sim_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++)
		put(stream, graph->work[i], graph->work[i].end_ns);
}

static void add_piece(struct piece piece)
{
	pthread_mutex_lock(&lock);
	if (piece_count == PIECES_MAX)
		abort();
	pieces[piece_count++] = piece;
	if (piece.is_ours && piece.kind == SIM_DEVICE)
		used_bytes += piece.bytes;
	pthread_mutex_unlock(&lock);
}

void sim_memory_add(void *start, size_t bytes, enum sim_memory kind)
{
	add_piece((struct piece){start, bytes, kind, false});
}

void *sim_memory_make(size_t bytes, enum sim_memory kind)
{
	size_t room = bytes ? bytes : 1;
	void *start = mmap(NULL, room, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	add_piece((struct piece){start, room, kind, true});
	return start;
}

void sim_memory_drop(void *start)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < piece_count; i++) {
		struct piece *p = &pieces[i];

		if (p->start != start)
			continue;
		if (p->is_ours)
			munmap(start, p->bytes);
		if (p->is_ours && p->kind == SIM_DEVICE)
			used_bytes -= p->bytes;
		*p = pieces[--piece_count];
		break;
	}
	pthread_mutex_unlock(&lock);
}

enum sim_memory sim_memory_of(const void *address)
{
	enum sim_memory kind = SIM_PAGEABLE;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < piece_count && kind == SIM_PAGEABLE; i++)
		if ((const char *)address >= pieces[i].start &&
		    (size_t)((const char *)address - pieces[i].start) < pieces[i].bytes)
			kind = pieces[i].kind;
	pthread_mutex_unlock(&lock);
	return kind;
}

void sim_memory_info(size_t *ret_free, size_t *ret_total)
{
	*ret_total = TOTAL_BYTES;
	*ret_free = used_bytes < TOTAL_BYTES ? TOTAL_BYTES - used_bytes : 0;
}

__attribute__((destructor)) static void write_work(void)
{
	FILE *file = log_of_all.count ? sim_truth_open() : NULL;

	if (!file)
		return;
	pthread_mutex_lock(&lock); /* another thread may still give work */
	for (uint32_t i = 0; i < log_of_all.count; i++) {
		const struct work *w = &log_of_all.work[i];

		fprintf(file, "work %s %d %lld %lld %zu %lld %s\n", w->kind, w->stream,
			(long long)w->begin_ns, (long long)w->end_ns, w->bytes,
			(long long)w->put_ns, w->name);
	}
	pthread_mutex_unlock(&lock);
	fclose(file);
}
