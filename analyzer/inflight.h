/*
 * What threads were inside of when the trace ended: where a hang hangs.
 */
#ifndef STAGEPROF_ANALYZER_INFLIGHT_H
#define STAGEPROF_ANALYZER_INFLIGHT_H

#include "analyzer/out.h"
#include "analyzer/report.h"

/* Lines of the table format, longest call first; the array "in_flight" of JSON. Returns 0 or
 * -ENOMEM. */
int sp_inflight_show(const struct sp_report *report, struct sp_out *out);

/* How long stream i has been inside of a call; 0: it is not. */
uint64_t sp_inflight_ns(const struct sp_report *report, uint32_t i);

#endif
