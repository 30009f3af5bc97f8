/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of a run (preload/settings/run_identity.h). The first process that records makes
 * it.
 */
#ifndef STAGEPROF_PRELOAD_RUN_CLAIM_H
#define STAGEPROF_PRELOAD_RUN_CLAIM_H

/*
 * First event of a process: finds or makes the directory, 0700. Signals are blocked by the caller.
 * Returns 0, SP_RUN_MADE where this call made it, or -errno with the reason. Idempotent.
 */
#define SP_RUN_MADE 1
int sp_run_claim(void);

#endif
