/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pictures of the page: an element that its script draws in, the data for it, and what stands
 * there without a script. The drawings are those of analyzer/page.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_PICTURES_H
#define STAGEPROF_ANALYZER_PAGE_PICTURES_H

#include <stdio.h>

#include "analyzer/report/report.h"

#define SP_PAGE_STEPS_MAX 1000u /* steps of all trainers in the page */

/* The functions that may fail return 0 or -ENOMEM. */
int sp_page_steps_put(FILE *f, const struct sp_report *report);
int sp_page_flame_put(FILE *f, const struct sp_report *report);
int sp_page_heat_put(FILE *f, const struct sp_report *report);

/* The whole section, with its end. */
void sp_page_timeline_put(FILE *f, const struct sp_report *report);

/* Data of the pictures that no view has: names of phases, and times outside of steps. */
void sp_page_training_put(FILE *f, const struct sp_report *report);

#endif
