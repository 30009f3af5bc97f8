/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries whose reads and writes bypass all hooks, because they make system calls by their own
 * instructions.
 */
#ifndef STAGEPROF_PRELOAD_UNSEEN_H
#define STAGEPROF_PRELOAD_UNSEEN_H

/* At the end of the process: names the loaded ones in the run's coverage. */
void sp_unseen_end(void);

#endif
