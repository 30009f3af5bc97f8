/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the training process spent its life: a line for people, else the table "life".
 */
#ifndef STAGEPROF_ANALYZER_LIFE_SECTION_H
#define STAGEPROF_ANALYZER_LIFE_SECTION_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/*
 * For people, parts without time are left out, and shares too where the line is brief. Returns 0 or
 * -ENOMEM.
 */
int sp_life_section(const struct sp_report *report, struct sp_out *out, bool is_brief);

#endif
