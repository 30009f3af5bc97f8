/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof-report digest: runs and digests become one digest.
 */
#ifndef STAGEPROF_ANALYZER_DIGEST_RUNS_H
#define STAGEPROF_ANALYZER_DIGEST_RUNS_H

#include "analyzer/cli/options.h"

/* A RUN that cannot be read costs its records alone.
 * Returns an exit status, which is then not 0. */
int sp_digest_runs(const struct sp_options *options);

#endif
