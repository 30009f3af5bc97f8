/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline as the page's script reads it.
 */
#ifndef STAGEPROF_ANALYZER_TIMELINE_JSON_H
#define STAGEPROF_ANALYZER_TIMELINE_JSON_H

#include "analyzer/report/report.h"
#include "analyzer/text/json.h"

/* Writes the timeline as an object; docs/HTML.md describes its members. */
void sp_timeline_json(const struct sp_timeline *timeline, const struct sp_report *report,
		      struct sp_json *j);

#endif
