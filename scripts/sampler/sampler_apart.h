/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler as a process apart, which a preloaded library began (STAGEPROF_SAMPLE;
 * preload/sampler/sampler_process.h). It prints nothing.
 */
#ifndef STAGEPROF_SAMPLER_APART_H
#define STAGEPROF_SAMPLER_APART_H

/* stageprof sampler PID RATE: samples the run of STAGEPROF_RUN below the process, until that
 * process ends. Returns the exit status. */
int sp_sampler_apart(int argc, char **argv);

#endif
