/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU that is not there. Nothing runs: work put on a stream gets the time at which a device would
 * begin and end it, by the work before it on the stream and by the events that the stream waits
 * for. A thread that waits for the stream sleeps until then. Copies are made at once, kernels
 * change nothing, device memory is the host's and begins as zeros. No function makes a thread. All
 * are thread-safe.
 *
 * Environment: SIM_KERNEL_NS, "PART=NS,PART=NS,NS": the time of a kernel whose name contains PART,
 * else the last number (20000 if unset). SIM_COPY_NS_PER_KIB (100 if unset; a pageable copy takes
 * twice that). SIM_QUEUE: launches that a stream holds before a caller waits (1024 if unset).
 * SIM_TRUTH: a path; when the process ends, PATH.PID gets a line for each piece of work, "work KIND
 * STREAM BEGIN_NS END_NS BYTES PUT_NS NAME", by CLOCK_MONOTONIC; PUT_NS: when it was given. The
 * libcupti of the fake device (fake_observer.h) gets each piece of work, too. SIM_DEVICES: how many
 * devices a process sees (1 if unset), which have one set of streams and one memory.
 * SIM_ZERO_SCALARS: a copy of at most 8 bytes to the host gives zeros, for programs that take a
 * size from there; else it gives the bytes that a copy left at the place, because kernels write
 * nothing. SIM_NO_DATA: large copies take time on the device's clock, and move nothing.
 */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_stream;
struct sim_event;
struct sim_graph;

/* A function of the device, as the runtime registered it. */
struct sim_kernel {
	char name[256];
	int64_t ns; /* how long it takes; 0: by its name */
};

/* NULL, 1 and 2 are the default stream. */
struct sim_stream *sim_stream_of(void *handle);
struct sim_stream *sim_stream_make(unsigned flags, int priority);
unsigned sim_stream_flags(const struct sim_stream *stream);
int sim_stream_priority(const struct sim_stream *stream);
void sim_stream_wait(struct sim_stream *stream); /* the calling thread sleeps */
/* When work that is put now would begin. */
int64_t sim_stream_begin_ns(struct sim_stream *stream);
bool sim_stream_is_idle(struct sim_stream *stream);
void sim_streams_wait(void);

struct sim_event *sim_event_make(void);
void sim_event_record(struct sim_event *event, struct sim_stream *stream);
void sim_event_follow(struct sim_event *event, struct sim_stream *stream);
void sim_event_wait(struct sim_event *event);
bool sim_event_is_done(struct sim_event *event);
int64_t sim_event_ns(struct sim_event *event); /* -1: not recorded */

/* `kind` and `name` must live as long as the process. */
void sim_kernel_put(struct sim_stream *stream, const struct sim_kernel *kernel);
void sim_named_put(struct sim_stream *stream, const char *name);
/* direction: "h2d", "d2h", "d2d", "h2h", or NULL: by the pointers. The caller of a pageable copy
 * waits for it. */
void sim_copy_put(struct sim_stream *stream, void *to, const void *from, size_t bytes,
		  const char *direction);
void sim_set_put(struct sim_stream *stream, void *to, int byte, size_t bytes);

void sim_capture_begin(struct sim_stream *stream);
struct sim_graph *sim_capture_end(struct sim_stream *stream);
struct sim_graph *sim_capture_of(struct sim_stream *stream); /* NULL: none */
void sim_graph_put(struct sim_stream *stream, const struct sim_graph *graph);

enum sim_memory { SIM_PAGEABLE, SIM_DEVICE, SIM_PINNED };

/* Zeros; NULL where there is no more of it. */
void *sim_memory_make(size_t bytes, enum sim_memory kind);
void sim_memory_add(void *start, size_t bytes, enum sim_memory kind);
void sim_memory_drop(void *start);
enum sim_memory sim_memory_of(const void *address);
void sim_memory_info(size_t *ret_free, size_t *ret_total);

#endif
