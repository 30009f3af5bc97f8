/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass that makes the totals. It reads the events of all selected streams once, with run.jobs
 * threads.
 */
#ifndef STAGEPROF_ANALYZER_TOTALS_READ_H
#define STAGEPROF_ANALYZER_TOTALS_READ_H

#include <stdbool.h>

#include "analyzer/totals/totals.h"

/* Damage is noted in the run's files. Returns 0 or -ENOMEM;
 * call sp_totals_finish() in either case. */
int sp_totals_read(struct sp_totals *totals, struct sp_run *run, bool wants_files);

#endif
