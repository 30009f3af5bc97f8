/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event kinds and classes, generated from events.def and classes.def. libc only, no state.
 */
#ifndef STAGEPROF_TRACE_EVENTS_H
#define STAGEPROF_TRACE_EVENTS_H

#include <stdint.h>

enum sp_event {
#define SP_EVENT(number, name, class, value, arg, extra) SP_EV_##name = (number),
#include "trace/events.def"
#undef SP_EVENT
};

#define SP_EVENT_KINDS 1024u /* numbers in events.def stay below */

enum sp_class {
#define SP_CLASS(name, stage, step, library) SP_CLASS_##name,
#include "trace/classes.def"
#undef SP_CLASS
	SP_CLASSES
};

enum sp_value {
	SP_VALUE_NONE,
	SP_VALUE_BYTES,
	SP_VALUE_LENGTH,
	SP_VALUE_FD,
	SP_VALUE_RESULT,
	SP_VALUE_PID,
	SP_VALUE_LINES,
	SP_VALUE_PHASE,
	SP_VALUE_ITERATOR,
	SP_VALUE_COUNT,
	SP_VALUE_RESIDENT,
};

enum sp_arg {
	SP_ARG_NONE,
	SP_ARG_FILE,
	SP_ARG_OBJECT,
	SP_ARG_NAME,
	SP_ARG_CUDA,	/* sp_cuda_arg_* below */
	SP_ARG_ADDRESS, /* an address >> 8 */
};

/*
 * arg of CUDA events: 0..2 enum sp_copy_direction, 4..5 enum sp_copy_host (both of copies
 * only), 8..31 the stream's handle >> 4; 0 for the default streams, and where the call has none.
 */
enum sp_copy_direction {
	SP_COPY_HOST_TO_HOST, /* the first four are numbered like cudaMemcpyKind */
	SP_COPY_TO_DEVICE,
	SP_COPY_TO_HOST,
	SP_COPY_ON_DEVICE,
	SP_COPY_UNKNOWN,
	SP_COPY_DIRECTIONS
};

enum sp_copy_host {
	SP_COPY_HOST_UNKNOWN, /* and where there is no host memory in the copy */
	SP_COPY_HOST_PAGEABLE,
	SP_COPY_HOST_PINNED,
};

static inline uint32_t sp_cuda_arg_make(uint64_t stream, uint32_t direction, uint32_t host)
{
	return (uint32_t)(stream >> 4) << 8 | host << 4 | direction;
}

static inline uint32_t sp_cuda_arg_direction(uint32_t arg)
{
	return arg & 7;
}

static inline uint32_t sp_cuda_arg_host(uint32_t arg)
{
	return arg >> 4 & 3;
}

/* The purpose of a range. */
enum sp_phase {
#define SP_PHASE(name, ...) SP_PHASE_##name,
#include "trace/phases.def"
#undef SP_PHASE
	SP_PHASES
};

/* A round of boosting is a step of an optimizer that is a whole step. */
static inline int sp_phase_optimizes(int64_t phase)
{
	return phase == SP_PHASE_optimizer || phase == SP_PHASE_round;
}

/* Why a thread has no core: the value of off_core. */
enum sp_no_core {
	SP_NO_CORE_WAITS,
	SP_NO_CORE_PREEMPTED, /* the kernel took it away */
	SP_NO_CORE_SWAP,      /* a page of its memory is read in again */
	SP_NO_CORE_RECORDER,  /* it does the recorder's own work, which waits */
};

/* Bits of the arg of `waits`. */
enum sp_waits_flags {
	SP_WAITS_FAULTS = 1,  /* page faults were observed, too */
	SP_WAITS_OUTSIDE = 2, /* of a fetch: since the last `waits`, or the begin of observing */
};
#define SP_PAGE_OUTSIDE 2 /* a bit of the value of page_fault */

/* Third EXTRA word of decode events. */
enum sp_decode_end {
	SP_DECODE_FINISHED,
	SP_DECODE_ABORTED, /* given up or destroyed before the last line, or left by an error's
			      longjmp */
};

struct sp_event_info {
	const char *name; /* NULL: no such kind in this version */
	uint8_t class, value, arg, extra;
};

/* Never NULL; an unknown kind has a NULL name. */
const struct sp_event_info *sp_event_info(uint32_t kind);

/* The part that the recorder uses. A table with names would be 16 KiB of each process's own memory,
 * because the loader stores to its pointers. */
struct sp_event_form {
	uint8_t class, arg;
};

/* An unknown kind has the form of kind 0. */
struct sp_event_form sp_event_form(uint32_t kind);

#endif
