/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline as the page's script reads it.
 */
#ifndef STAGEPROF_ANALYZER_TIMELINE_JSON_H
#define STAGEPROF_ANALYZER_TIMELINE_JSON_H

#include "analyzer/report/report.h"
#include "analyzer/text/json.h"

/*
 * Writes the timeline as an object: `wall_ns`; `window` (null: no steps) with `start_ns`, `end_ns`
 * and its steps; `threads_left_out`; `lanes`. A lane has `role`, `pid`, `tid`, `name`, `start_ns`,
 * `end_ns`, its events `inside` the window and `outside`, and the counts `inside_seen` and
 * `outside_seen`. An event is [start_ns, dur_ns, kind, stage, name, value]; kind, stage and name
 * are indexes of `kinds`, `stages` and `names`. Instants are ns since the run began.
 */
void sp_timeline_json(const struct sp_timeline *timeline, const struct sp_report *report,
		      struct sp_json *j);

#endif
