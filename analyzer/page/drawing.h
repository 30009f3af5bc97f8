/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of the HTML page that need no script; they are printed, too. Positions are in percent,
 * so that text keeps its size at any width of the window.
 */
#ifndef STAGEPROF_ANALYZER_DRAWING_H
#define STAGEPROF_ANALYZER_DRAWING_H

#include <stdio.h>

#include "analyzer/report/report.h"

/* Draws the training threads' time as one bar of the account's phases. */
void sp_draw_account(FILE *file, const struct sp_report *report);

/*
 * Draws the steps of the trainer with the most steps, by time; slow_ns: longer steps are marked.
 * Returns 0 or -ENOMEM.
 */
int sp_draw_steps(FILE *file, const struct sp_report *report, uint64_t slow_ns);

#endif
