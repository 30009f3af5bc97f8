/* SPDX-License-Identifier: Apache-2.0 */
/* The stages that took most of the threads' time, in a line:
 * the answer for a run without training. */
#ifndef STAGEPROF_ANALYZER_TOP_STAGES_H
#define STAGEPROF_ANALYZER_TOP_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_report;

/*
 * True where the stage's time is a part of the threads' lifetimes. Three sorts are none: waits that
 * may begin before the thread's file, a GPU's time, and nested ranges, whose sum may be longer.
 */
bool sp_stage_is_of_threads(uint32_t stage);

/* "JPEG decode 1.12 s in 300 calls; file read 781 ms in 982 calls; of the threads' 5.76 s".
 * Stages below 1% of the threads' time are left out; where all are, the text says so. Empty where
 * nothing was recorded. */
void sp_top_stages_text(const struct sp_report *report, char *ret, size_t ret_bytes);

#endif
