/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of CUDA graphs by a thread that trains by nothing else: a step that was captured whole
 * is one call, without a visible backward or optimizer. Counts belong to the calling thread.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_GRAPH_H
#define STAGEPROF_PRELOAD_CUDA_GRAPH_H

/*
 * Before the launch of a graph by the calling thread, which records. Returns 1 where the thread
 * has launched more graphs in a row than ever before a phase of training began: such a graph may be
 * a whole step. The first launch of a process is reported in coverage. errno is kept.
 */
int sp_cuda_graph_count(void);

/* Returns 1 where the launch counted last may be a whole step. */
int sp_cuda_graph_is_step(void);

/* A backward, an optimizer's step or zero_grad begins on the calling thread: the graphs before it
 * were not whole steps. */
void sp_cuda_graph_phase_begun(void);

#endif
