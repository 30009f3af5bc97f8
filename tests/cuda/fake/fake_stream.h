/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams as threads: what is put on a stream runs later, in order, on a thread of the stream's
 * own. While a stream captures, what is put on it goes into a graph instead. All functions are
 * thread-safe.
 */
#ifndef FAKE_STREAM_H
#define FAKE_STREAM_H

#include <stddef.h>
#include <stdint.h>

enum fake_work_kind {
	FAKE_WORK_KERNEL,
	FAKE_WORK_COPY,
	FAKE_WORK_SET,
	FAKE_WORK_EVENT,
	FAKE_WORK_WAIT,
	FAKE_WORK_FUNCTION,
};

struct fake_work {
	struct fake_work *next;
	uint64_t put_ns; /* when it came upon the stream:
			    it begins then or after the work before it */
	enum fake_work_kind kind;
	uint64_t ns; /* how long it takes */
	void *to;
	const void *from;
	size_t bytes;
	int byte;
	void *event; /* EVENT, WAIT */
	uint64_t turn;
	void (*function)(void *);
	const void *kernel;
	const char *name;  /* of the kernel; NULL: its symbol's */
	uint8_t direction; /* of the copy, CUpti_ActivityMemcpyKind; 0: the call's name says it */
	uint32_t stream_id, correlation; /* for fake_observer.h */
};

struct fake_stream *fake_stream_make(int device);
int fake_stream_device(const struct fake_stream *stream);
/* Waits for the stream's work first. A few bytes stay: see there. */
void fake_stream_free(struct fake_stream *stream);
/* NULL and 1: the default stream of the device that all threads share;
 * 2: the calling thread's own. */
struct fake_stream *fake_stream_of(void *handle, int device);
struct fake_stream *fake_stream_own(int device);

/* Copies the work. */
void fake_stream_put(struct fake_stream *stream, const struct fake_work *work);
void fake_stream_finish(struct fake_stream *stream);
int fake_stream_idle(struct fake_stream *stream);
void fake_streams_finish_all(void);
/* How long the calling thread has waited in these two, by CLOCK_MONOTONIC: a part of each call that
 * waits, so the time of no such call is less. */
uint64_t fake_waited_ns(void);
/* When the calling thread last put a kernel on a stream. */
uint64_t fake_put_ns(void);

/* The library is unloaded: streams end when their work is done. */
void fake_streams_end(void);

int fake_stream_captures(struct fake_stream *stream);
void fake_capture_begin(struct fake_stream *stream);
struct fake_work *fake_capture_end(struct fake_stream *stream);

struct fake_event *fake_event_make(void);
void fake_event_free(struct fake_event *event);
void fake_event_put(struct fake_event *event, struct fake_stream *stream);
void fake_event_follow(struct fake_event *event, struct fake_stream *stream);
void fake_event_finish(struct fake_event *event);
int fake_event_done(struct fake_event *event);
/* When the device reached it, by its own clock: free of what the host's scheduler adds. */
uint64_t fake_event_ns(struct fake_event *event);

/* Number of calls that CUDA forbids: streams and events used after their end. */
extern long fake_violations;

#endif
