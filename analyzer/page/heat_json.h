/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of ranks and steps as the page's script reads it.
 */
#ifndef STAGEPROF_ANALYZER_HEAT_JSON_H
#define STAGEPROF_ANALYZER_HEAT_JSON_H

#include "analyzer/report/report.h"
#include "analyzer/text/json.h"

/*
 * Writes an object: `ranks`; `columns` with `first_step` and `last_step`; `rows`, three lists in
 * the orders of rank, host and lateness, each row with the number of its `ranks`, the `first` and
 * the `latest` of them; `measures`, each with `name`, `title`, `low_ns`, `high_ns` and `cells`: for
 * each order a text a row, in which a character's place in `levels` is the value. Returns 0,
 * -ENOMEM or -EBADMSG.
 */
int sp_heat_json(const struct sp_report *report, struct sp_json *j);

#endif
