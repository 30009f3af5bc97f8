/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object "run" of every JSON document.
 */
#ifndef STAGEPROF_ANALYZER_RUN_JSON_H
#define STAGEPROF_ANALYZER_RUN_JSON_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* Writes values of the whole selection. */
void sp_run_json(const struct sp_report *report, struct sp_out *out);

#endif
