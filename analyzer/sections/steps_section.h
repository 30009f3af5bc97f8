/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of training in a few lines, and in JSON as the object "steps".
 */
#ifndef STAGEPROF_ANALYZER_STEPS_SECTION_H
#define STAGEPROF_ANALYZER_STEPS_SECTION_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"
#include "analyzer/training/step_stats.h"

#define SP_STEP_TEXT_BYTES 256u

/* "733 ms, the mean of the 25 steady steps"; their median where it is far from that; the first
 * steps where they take much; "": there is none. has_threads: says of how many training threads, if
 * there are some. */
void sp_step_text(char ret[SP_STEP_TEXT_BYTES], const struct sp_report *report, bool has_threads);

/* *ret_count: the number of selected steps. Returns 0 or -ENOMEM. */
int sp_steps_section(const struct sp_report *report, struct sp_out *out, uint64_t *ret_count);

#endif
