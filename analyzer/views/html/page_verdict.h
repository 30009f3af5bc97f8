/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's first section: the verdict, the account as a bar, and what to do first.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_VERDICT_H
#define STAGEPROF_ANALYZER_PAGE_VERDICT_H

#include <stdio.h>

#include "analyzer/report/report.h"
#include "analyzer/verdict/verdict.h"

/* symbols: with the source text of the advice's lines. Returns 0 or -ENOMEM. */
int sp_page_verdict_put(FILE *f, const struct sp_report *report, const struct sp_verdict *v,
			bool symbols);

#endif
