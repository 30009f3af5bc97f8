/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread at a time before its end: one more reading of its events says what it did. A job that
 * hung and was interrupted goes on: it raises, tidies up and exits.
 */
#ifndef STAGEPROF_ANALYZER_THREAD_PAST_H
#define STAGEPROF_ANALYZER_THREAD_PAST_H

#include <stdbool.h>
#include <stdint.h>

/* From the first process that a signal reaches to the last one. */
#define SP_THREAD_PAST_SIGNAL_NS INT64_C(1000000000)

struct sp_run;

struct sp_thread_past {
	bool is_read;
	uint32_t kind;	  /* of the call that the thread was inside of; 0: of none */
	uint32_t arg;	  /* of that call */
	bool has_ended;	  /* that call ended by itself: no signal and no exception left it */
	int64_t since_ns; /* CLOCK_REALTIME: the call's start, or the last end of a call before */
};

/* is_signal: a signal ended the wait at at_ns, and may have reached this thread a little earlier.
 * No memory: the thread is in no call since INT64_MIN. */
struct sp_thread_past sp_thread_past_read(const struct sp_run *run, uint32_t stream, int64_t at_ns,
					  bool is_signal);

/*
 * The end, CLOCK_REALTIME, of the last call of `least_ns` or more that began after after_ns and was
 * given up: a signal or an exception left it, or a loader gave no batch and raised. Where none was,
 * it may be any wait of a process that failed: native code takes the signal after it. INT64_MIN:
 * none.
 */
int64_t sp_interruption_find(const struct sp_run *run, uint32_t stream, int64_t after_ns,
			     int64_t least_ns, bool has_failed);

/* True where a signal ended a call of the thread, at at_ns or a little earlier. */
bool sp_signal_find(const struct sp_run *run, uint32_t stream, int64_t at_ns);

/* The start of the thread's first call after after_ns; INT64_MAX: none. */
int64_t sp_first_call_find(const struct sp_run *run, uint32_t stream, int64_t after_ns);

#endif
