#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A TaskProlog of Slurm: each task of a job that sets STAGEPROF_OUTPUT records itself. Slurm adds
# each line "export NAME=VALUE" to the task's environment. For a whole cluster, TaskProlog= in
# slurm.conf names this file; for one job, srun --task-prolog=FILE.
library=/opt/stageprof/lib/libstageprof.so
[ -n "${STAGEPROF_OUTPUT-}" ] && [ -r "$library" ] || exit 0
echo "export LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD}"
