/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that threads were inside of when the trace ended: the place of a hang.
 */
#ifndef STAGEPROF_ANALYZER_INFLIGHT_H
#define STAGEPROF_ANALYZER_INFLIGHT_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* Writes lines of the table format, longest call first, and the array "in_flight" of JSON.
 * Returns 0 or -ENOMEM. */
int sp_inflight_show(const struct sp_report *report, struct sp_out *out);

/* The time that the thread of stream i has been inside of a call; 0: it is in none. */
uint64_t sp_inflight_ns(const struct sp_report *report, uint32_t i);

#endif
