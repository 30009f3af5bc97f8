/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of training time: a row a phase.
 */
#ifndef STAGEPROF_ANALYZER_ACCOUNT_SECTION_H
#define STAGEPROF_ANALYZER_ACCOUNT_SECTION_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/*
 * Writes the sections of steps, of the GPU and of the process's life, then the account. Returns 0
 * or -ENOMEM.
 */
int sp_account_section(const struct sp_report *report, struct sp_out *out);

/*
 * Writes the account in at most lines_max lines: the phases that took time, the small ones as one
 * row. Returns 0 or -ENOMEM.
 */
int sp_account_section_brief(const struct sp_report *report, struct sp_out *out,
			     unsigned lines_max);

#endif
