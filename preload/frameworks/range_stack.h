/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of a program: intervals that a framework or the user marks. One event (class RANGE of
 * trace/classes.def) is written when a range ends. A range that began before a fork and ends in
 * the child belongs to neither process and is not recorded.
 *
 * Not hooks: frameworks' callbacks call these functions, on any thread. The callers keep errno.
 */
#ifndef STAGEPROF_PRELOAD_RANGE_STACK_H
#define STAGEPROF_PRELOAD_RANGE_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "preload/frameworks/call_rusage.h"

struct sp_range {
	uint64_t start; /* ticks */
	uint64_t image; /* image_start_ns of the process image; 0: not recorded */
};

struct sp_range sp_range_begin(void);

/* value: enum sp_phase for kinds with a phase, else 0. */
void sp_range_end(struct sp_range range, uint32_t kind, int64_t value, const char *text,
		  size_t bytes);

/* Before the begin of a range that ends in sp_range_end_used(): observes why the thread does not
 * run. The trace has the label from then on, even if the range never ends. */
void sp_range_observe(const char *text, size_t bytes);

/* The same with an EXTRA slot: the thread's use since `before`, which must be known. */
void sp_range_end_used(struct sp_range range, uint32_t kind, int64_t value, const char *text,
		       size_t bytes, const struct sp_call_rusage *before);

/* The same for a label that was interned when the range began (sp_intern). */
void sp_range_end_named(struct sp_range range, uint32_t kind, uint32_t name);

#endif
