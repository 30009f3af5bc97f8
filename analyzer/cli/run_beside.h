/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folders of one run: processes that change their user under LD_PRELOAD cannot write to the
 * first user's folder, and record in NAME-2.zst beside NAME.zst. The name of the marker in each
 * folder has the token of the run, which the processes share.
 */
#ifndef STAGEPROF_ANALYZER_RUN_BESIDE_H
#define STAGEPROF_ANALYZER_RUN_BESIDE_H

#include <stdbool.h>

#include "analyzer/report/report.h"

struct sp_run_beside {
	char *path;	/* owned */
	bool is_closed; /* this user may not look into it: it may be of another run */
};

struct sp_runs_beside {
	struct sp_run_beside *runs; /* owned */
	uint32_t count;
};

/* Adds the folders beside the one at `path` that belong to its run or may do so, except for those
 * that `given` names, which ends in NULL. Returns 0 or -ENOMEM. */
int sp_runs_beside_find(struct sp_runs_beside *list, const char *path, char *const *given);

void sp_runs_beside_finish(struct sp_runs_beside *list);

/* Names each on stderr: those that were read along, and those that changed during the report's
 * run and may not be read. */
void sp_runs_beside_say(const struct sp_runs_beside *list, const struct sp_report *report);

#endif
