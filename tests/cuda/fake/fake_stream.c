/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fake_stream.h"

#include "fake_cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake_observer.h"

struct fake_stream {
	uint32_t id;
	struct fake_stream *next; /* of all streams */
	struct fake_work *first, *last;
	uint64_t put, done;
	uint64_t clock; /* the end of the work that was done last, in a device without delays */
	int capturing, ending, device;
	struct fake_work *captured, *captured_last;
	pthread_t thread;
};

struct fake_event {
	uint64_t turn, done; /* recordings asked for, and reached */
	uint64_t ns;
};

/* One lock and one condition for everything: a test device need not be fast. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fake_stream *streams, *shared[FAKE_DEVICES_MAX];
static __thread struct fake_stream *own[FAKE_DEVICES_MAX];
long fake_violations;
static __thread uint64_t waited_ns, put_ns;

uint64_t fake_waited_ns(void)
{
	return waited_ns;
}

uint64_t fake_put_ns(void)
{
	return put_ns;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		;
}

static void run(struct fake_stream *stream, const struct fake_work *work)
{
	struct fake_event *event = work->event;
	uint64_t begin = work->put_ns > stream->clock ? work->put_ns : stream->clock;

	if (work->kind == FAKE_WORK_COPY)
		memmove(work->to, work->from, work->bytes);
	else if (work->kind == FAKE_WORK_SET)
		memset(work->to, work->byte, work->bytes);
	else if (work->kind == FAKE_WORK_FUNCTION)
		work->function(work->to);
	stream->clock = begin + work->ns;
	if (work->ns)
		sleep_until(stream->clock);
	if (work->kind == FAKE_WORK_FUNCTION)
		stream->clock = now_ns();
	if (fake_observer)
		fake_observer->work(work, begin, stream->clock);
	pthread_mutex_lock(&lock);
	while (work->kind == FAKE_WORK_WAIT && event->done < work->turn)
		pthread_cond_wait(&changed, &lock);
	if (work->kind == FAKE_WORK_WAIT && event->ns > stream->clock)
		stream->clock = event->ns;
	if (work->kind == FAKE_WORK_EVENT) {
		event->done = work->turn;
		event->ns = stream->clock;
	}
	pthread_mutex_unlock(&lock);
}

static void *stream_main(void *argument)
{
	struct fake_stream *stream = argument;

	pthread_mutex_lock(&lock);
	for (;;) {
		struct fake_work *work = stream->first;

		if (!work && stream->ending)
			break;
		if (!work) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		stream->first = work->next;
		pthread_mutex_unlock(&lock);
		run(stream, work);
		free(work);
		pthread_mutex_lock(&lock);
		stream->done++;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

struct fake_stream *fake_stream_make(int device)
{
	struct fake_stream *stream = calloc(1, sizeof(*stream));

	if (stream)
		stream->device = device;
	if (!stream || pthread_create(&stream->thread, NULL, stream_main, stream) != 0)
		abort();
	pthread_mutex_lock(&lock);
	stream->next = streams;
	streams = stream;
	stream->id = streams->next ? streams->next->id + 1 : 7;
	pthread_mutex_unlock(&lock);
	return stream;
}

void fake_stream_free(struct fake_stream *stream)
{
	struct fake_stream **at = &streams;

	pthread_mutex_lock(&lock);
	stream->ending = 1;
	pthread_cond_broadcast(&changed);
	while (*at != stream)
		at = &(*at)->next;
	*at = stream->next;
	pthread_mutex_unlock(&lock);
	pthread_join(stream->thread, NULL);
	/* The stream's memory stays, because another thread may be waiting for all streams. */
}

void fake_streams_end(void)
{
	while (streams)
		fake_stream_free(streams);
}

int fake_stream_device(const struct fake_stream *stream)
{
	return stream->device;
}

struct fake_stream *fake_stream_own(int device)
{
	if (!own[device])
		own[device] = fake_stream_make(device);
	return own[device];
}

static void shared_make(void)
{
	for (int i = 0; i < FAKE_DEVICES_MAX; i++)
		shared[i] = fake_stream_make(i);
}

struct fake_stream *fake_stream_of(void *handle, int device)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if ((uintptr_t)handle == 2)
		return fake_stream_own(device);
	if ((uintptr_t)handle > 2)
		return handle;
	pthread_once(&once, shared_make);
	return shared[device];
}

static void append(struct fake_work **first, struct fake_work **last, struct fake_work *work)
{
	work->next = NULL;
	if (*first)
		(*last)->next = work;
	else
		*first = work;
	*last = work;
}

void fake_stream_put(struct fake_stream *stream, const struct fake_work *work)
{
	struct fake_work *copy = malloc(sizeof(*copy));

	if (!copy)
		abort();
	*copy = *work;
	copy->stream_id = stream->id;
	copy->correlation = fake_correlation;
	copy->put_ns = now_ns();
	if (work->kind == FAKE_WORK_KERNEL)
		put_ns = copy->put_ns;
	pthread_mutex_lock(&lock);
	fake_violations += stream->ending;
	if (stream->capturing) {
		append(&stream->captured, &stream->captured_last, copy);
	} else {
		append(&stream->first, &stream->last, copy);
		stream->put++;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

/* FAKE_CUDA_POLLS: in no function of libc that a recorder may see, as the real one that spins. */
static void wait_for_change(void)
{
	const struct timespec briefly = {0, 200000};

	if (!getenv("FAKE_CUDA_POLLS")) {
		pthread_cond_wait(&changed, &lock);
		return;
	}
	pthread_mutex_unlock(&lock);
	syscall(SYS_nanosleep, &briefly, NULL);
	pthread_mutex_lock(&lock);
}

static void finish_locked(struct fake_stream *stream)
{
	uint64_t until = stream->put;

	while (stream->done < until)
		wait_for_change();
}

void fake_stream_finish(struct fake_stream *stream)
{
	uint64_t began_ns = now_ns();

	pthread_mutex_lock(&lock);
	finish_locked(stream);
	pthread_mutex_unlock(&lock);
	waited_ns += now_ns() - began_ns;
}

int fake_stream_idle(struct fake_stream *stream)
{
	int idle;

	pthread_mutex_lock(&lock);
	idle = stream->done == stream->put;
	pthread_mutex_unlock(&lock);
	return idle;
}

void fake_streams_finish_all(void)
{
	uint64_t began_ns = now_ns();

	pthread_mutex_lock(&lock);
	for (struct fake_stream *stream = streams; stream; stream = stream->next)
		finish_locked(stream);
	pthread_mutex_unlock(&lock);
	waited_ns += now_ns() - began_ns;
}

int fake_stream_captures(struct fake_stream *stream)
{
	int captures;

	pthread_mutex_lock(&lock);
	captures = stream->capturing;
	pthread_mutex_unlock(&lock);
	return captures;
}

void fake_capture_begin(struct fake_stream *stream)
{
	pthread_mutex_lock(&lock);
	stream->capturing = 1;
	stream->captured = NULL;
	pthread_mutex_unlock(&lock);
}

struct fake_work *fake_capture_end(struct fake_stream *stream)
{
	struct fake_work *captured;

	pthread_mutex_lock(&lock);
	stream->capturing = 0;
	captured = stream->captured;
	pthread_mutex_unlock(&lock);
	return captured;
}

struct fake_event *fake_event_make(void)
{
	struct fake_event *event = calloc(1, sizeof(*event));

	if (!event)
		abort();
	return event;
}

void fake_event_free(struct fake_event *event)
{
	/* The event's memory stays, because streams may still have to wait for it. */
	fake_event_finish(event);
}

static uint64_t turn_of(struct fake_event *event, uint64_t more)
{
	uint64_t turn;

	pthread_mutex_lock(&lock);
	turn = event->turn += more;
	pthread_mutex_unlock(&lock);
	return turn;
}

void fake_event_put(struct fake_event *event, struct fake_stream *stream)
{
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_EVENT,
						    .event = event,
						    .turn = turn_of(event, 1)});
}

void fake_event_follow(struct fake_event *event, struct fake_stream *stream)
{
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_WAIT,
						    .event = event,
						    .turn = turn_of(event, 0)});
}

void fake_event_finish(struct fake_event *event)
{
	pthread_mutex_lock(&lock);
	for (uint64_t turn = event->turn; event->done < turn;)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

int fake_event_done(struct fake_event *event)
{
	int done;

	pthread_mutex_lock(&lock);
	done = event->done == event->turn;
	pthread_mutex_unlock(&lock);
	return done;
}

uint64_t fake_event_ns(struct fake_event *event)
{
	return event->ns;
}
