/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a thread's trace. Most programs leave threads running. Those threads end when the
 * main thread ends the process, and record no end of their own. A call that such a thread was in
 * is not a hang.
 */
#ifndef STAGEPROF_ANALYZER_THREAD_END_H
#define STAGEPROF_ANALYZER_THREAD_END_H

#include <stdint.h>

struct sp_run;
struct sp_totals;

enum sp_thread_end {
	SP_THREAD_END_CLEAN,
	SP_THREAD_END_WITH_PROCESS, /* silent after the clean end of its
				       process's main thread */
	SP_THREAD_END_NONE,	    /* killed, or still running */
};

/* The time of the clean end of each process's main thread, CLOCK_REALTIME ns, parallel to
 * index.images; INT64_MIN: no clean end. sp_thread_end_of() needs it. The totals must have their
 * streams. NULL: no memory. The caller frees the array. */
int64_t *sp_main_ends_find(const struct sp_run *run, const struct sp_totals *totals);

enum sp_thread_end sp_thread_end_of(const struct sp_run *run, const struct sp_totals *totals,
				    uint32_t stream);

#endif
