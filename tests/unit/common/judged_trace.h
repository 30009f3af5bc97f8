/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixture of tests that make the trace of a process, 10, and judge it. One tick is one ns. The
 * names are short, because a test has them in each line.
 */
#ifndef STAGEPROF_TESTS_JUDGED_TRACE_H
#define STAGEPROF_TESTS_JUDGED_TRACE_H

#include <stdint.h>

#include "analyzer/verdict/verdict.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/trace_maker.h"

extern char folder[64]; /* of this test; a.zst in it is the trace of m */
extern struct sp_maker m;
extern struct sp_load load; /* of the whole folder, after judge() */
extern struct sp_verdict v; /* after judge() */

/* Set-up and teardown of a test. Set-up begins the trace of thread 10. */
void judged_trace_begin(void);
void judged_trace_end(void);

/* Begins m again, for another thread of the process. The trace before has to be written. */
void thread_begin(uint32_t tid);

void name(uint32_t id, const char *text);

/* An event of `ns` that begins now and ends then. */
void span(uint32_t kind, uint32_t arg, uint64_t ns, int64_t value);

/* Writes the trace, reads the folder and returns the code of the verdict; of cannot-tell, the
 * reason. */
const char *judge(void);

/* Fails the test where the metric is not known. */
double value(enum sp_metric_id metric);

#endif
