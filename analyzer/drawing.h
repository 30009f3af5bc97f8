/*
 * Pictures of the HTML page that need no script: they are what is printed, too. Positions are in
 * percent, so that text keeps its size whatever the window's width.
 */
#ifndef STAGEPROF_ANALYZER_DRAWING_H
#define STAGEPROF_ANALYZER_DRAWING_H

#include <stdio.h>

#include "analyzer/report.h"

/* The training threads' time as one bar of the account's parts. */
void sp_draw_account(FILE *file, const struct sp_report *report);

/*
 * The steps of the trainer with the most, by time; slow_ns: steps above it are marked. Returns 0
 * or -ENOMEM.
 */
int sp_draw_steps(FILE *file, const struct sp_report *report, uint64_t slow_ns);

#endif
