/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled stacks as the page's script reads them.
 */
#ifndef STAGEPROF_ANALYZER_FLAME_JSON_H
#define STAGEPROF_ANALYZER_FLAME_JSON_H

#include "analyzer/report/report.h"
#include "analyzer/text/json.h"

/*
 * Writes an object with the stacks of most time, within a budget: `phases`; `frames` with `name`,
 * `file` and `line`; `stacks`, each with `phase`, `ns` and its `frames`, outermost first;
 * `left_out_ns`. Returns 0 or -ENOMEM.
 */
int sp_flame_json(const struct sp_report *report, struct sp_json *j);

#endif
