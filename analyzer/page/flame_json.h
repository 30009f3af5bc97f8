/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled stacks as the page's script reads them.
 */
#ifndef STAGEPROF_ANALYZER_FLAME_JSON_H
#define STAGEPROF_ANALYZER_FLAME_JSON_H

#include "analyzer/report/report.h"
#include "analyzer/text/json.h"

/*
 * Writes an object with the stacks of most time, within a budget: `phases`; `frames`, each a list
 * of name, line and file ("": none), or the number of a file that an earlier frame has; `stacks`,
 * each a list of phase, ns, the number of outermost frames that it shares with the stack before it,
 * and its other frames, the outermost first; `left_out_ns`. Frames of Python's import are left out.
 * Returns 0 or -ENOMEM.
 */
int sp_flame_json(const struct sp_report *report, struct sp_json *j);

#endif
