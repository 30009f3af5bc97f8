/*
 * Ranges of a program: what a framework or the user marks as beginning here and ending there. One event
 * (class RANGE of trace/events.def) is written when a range ends. A range that began before a fork and
 * ends in the child belongs to neither and is not recorded.
 *
 * Not hooks: called from frameworks' callbacks, on any thread, with errno kept by the caller's rules.
 */
#ifndef STAGEPROF_PRELOAD_RANGES_H
#define STAGEPROF_PRELOAD_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "preload/call_usage.h"

struct sp_range {
	uint64_t start; /* ticks */
	uint64_t image; /* image_start_ns of the process image; 0: not recorded */
};

struct sp_range sp_range_begin(void);

/* value: enum sp_part where the kind says PART, else 0. */
void sp_range_end(struct sp_range range, uint32_t kind, int64_t value, const char *text,
		  size_t bytes);

/* The same with what the thread used since `before`, which is known, in an EXTRA slot. */
void sp_range_end_used(struct sp_range range, uint32_t kind, int64_t value, const char *text,
		       size_t bytes, const struct sp_call_usage *before);

/* The same where the label was numbered when the range began (sp_name_of). */
void sp_range_end_named(struct sp_range range, uint32_t kind, uint32_t name);

#endif
