/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's counts for the calling thread: two system calls. Wrapped calls that come once for
 * each batch use it, and hooks do not. A wait for a page of a mapped file, a wait for a core, and a
 * wait in a call without a hook show in these counts alone.
 */
#ifndef STAGEPROF_PRELOAD_CALL_RUSAGE_H
#define STAGEPROF_PRELOAD_CALL_RUSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct sp_call_rusage {
	bool is_known;
	uint64_t cpu_ns;		 /* in user and kernel mode */
	uint64_t major, minor;		 /* page faults: with and without reading */
	uint64_t voluntary, involuntary; /* switches to another thread */
};

/* Returns true for phases (trace/phases.def) whose calls are measured: docs/FORMAT.md, EXTRA words.
 * Two readings take 2 µs, which a fetch does not feel; a small step would. */
bool sp_call_rusage_wanted(int32_t phase);

/* Returns true and sets is_known if the kernel answered; a frozen process does not ask. */
bool sp_call_rusage_read(struct sp_call_rusage *ret);

/* The EXTRA words: the difference of two readings. */
void sp_call_rusage_words(const struct sp_call_rusage *before, const struct sp_call_rusage *after,
			  uint64_t ret[3]);

#endif
