/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of ranks and steps as the page's script reads it.
 */
#ifndef STAGEPROF_ANALYZER_HEAT_JSON_H
#define STAGEPROF_ANALYZER_HEAT_JSON_H

#include "analyzer/report/report.h"
#include "analyzer/text/json.h"

/* Writes an object; docs/HTML.md describes its members. Returns 0, -ENOMEM or -EBADMSG. */
int sp_heat_json(const struct sp_report *report, struct sp_json *j);

#endif
