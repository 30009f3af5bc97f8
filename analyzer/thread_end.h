/*
 * How a thread's trace ends. Most programs leave threads behind: those end when the main thread has come to the
 * process's end, without a word of their own, and what they were inside of then is no hang.
 */
#ifndef STAGEPROF_ANALYZER_THREAD_END_H
#define STAGEPROF_ANALYZER_THREAD_END_H

#include <stdint.h>

struct sp_report;

enum sp_thread_end {
	SP_THREAD_END_CLEAN,
	SP_THREAD_END_WITH_PROCESS, /* not heard of after the clean end of its process's main thread */
	SP_THREAD_END_NONE,	    /* killed, or still running */
};

/* When each process's main thread came to its clean end, CLOCK_REALTIME ns, parallel to index.images; INT64_MIN: it did
 * not. For sp_thread_end_of(), from a report whose streams are read. NULL: no memory. The caller frees it. */
int64_t *sp_main_ends_find(const struct sp_report *report);

enum sp_thread_end sp_thread_end_of(const struct sp_report *report, uint32_t stream);

#endif
