/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run beside a run: the processes that change their user under LD_PRELOAD cannot write to the
 * first user's folder, and record in NAME-2.zst beside NAME.zst.
 */
#ifndef STAGEPROF_ANALYZER_RUN_BESIDE_H
#define STAGEPROF_ANALYZER_RUN_BESIDE_H

#include "analyzer/report/report.h"

/* Names on stderr each run beside this one, read from `path`, that began while it lasted or right
 * after its last event. */
void sp_run_beside_say(const struct sp_report *report, const char *path);

#endif
