/*
 * Launches of CUDA graphs by a thread that trains by nothing else: a step that was captured whole is one call, with no
 * backward and no optimizer to be seen in it.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_GRAPH_H
#define STAGEPROF_PRELOAD_CUDA_GRAPH_H

/*
 * Before and after the launch of a graph by the calling thread, which records. Where it has launched more of them in a row
 * than ever before a stage of training came, each is timed by itself (cuda_time.h): what the host does between two would
 * else be in one's time. The first of a process is told in coverage. errno is kept.
 */
void sp_cuda_graph_launch(void);
void sp_cuda_graph_launched(void);

/* A backward, an optimizer's step or zero_grad begins on the calling thread: graphs before it are not the steps. */
void sp_cuda_graph_is_part(void);

#endif
