/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled stacks as the page's script reads them.
 */
#ifndef STAGEPROF_ANALYZER_FLAME_JSON_H
#define STAGEPROF_ANALYZER_FLAME_JSON_H

#include "analyzer/report/report.h"
#include "analyzer/text/json.h"

/* Writes an object with the stacks of most time, within a budget; docs/HTML.md describes its
 * members. Returns 0 or -ENOMEM. */
int sp_flame_json(const struct sp_report *report, struct sp_json *j);

#endif
