/*
 * What the kernel counted of the calling thread: one getrusage(2). Not for hooks; for wrapped calls that
 * come once a batch. A thread that waits for a page of a mapped file, for a core, or in a call that has no
 * hook shows nothing else of it.
 */
#ifndef STAGEPROF_PRELOAD_CALL_USAGE_H
#define STAGEPROF_PRELOAD_CALL_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct sp_call_usage {
	bool is_known;
	uint64_t cpu_ns;       /* in user and kernel mode; microseconds are counted */
	uint64_t major, minor; /* page faults: with and without reading */
	uint64_t voluntary, involuntary; /* switches to another thread */
};

/* True for parts (trace/parts.def) whose calls are measured: docs/FORMAT.md, EXTRA words. */
bool sp_call_usage_wanted(int32_t part);

/* True, and is_known set, where the kernel was asked and answered: not behind a seccomp filter. */
bool sp_call_usage_read(struct sp_call_usage *ret);

/* The EXTRA words of what was used between two readings. */
void sp_call_usage_words(const struct sp_call_usage *before, const struct sp_call_usage *after, uint64_t ret[3]);

#endif
