/*
 * What the label of a range tells of training. PyTorch writes these labels itself:
 * torch/optim/optimizer.py (Optimizer.step#, Optimizer.zero_grad#) and
 * torch/utils/data/dataloader.py (enumerate(DataLoader)#); torch/csrc/distributed/c10d/Work.cpp, with a
 * title that each backend gives (gloo:all_reduce). Ranges of gloo, MPI and UCC last from the call until
 * the collective is done; those of NCCL end when it is enqueued, and are none.
 */
#ifndef STAGEPROF_ANALYZER_LABEL_H
#define STAGEPROF_ANALYZER_LABEL_H

#include <stdbool.h>
#include <stddef.h>

enum sp_label {
	SP_LABEL_OTHER,
	SP_LABEL_OPTIMIZER,
	SP_LABEL_ZERO_GRAD,
	SP_LABEL_LOADER,
	SP_LABEL_COLLECTIVE, /* that ends on all ranks at once */
};

enum sp_label sp_label_of(const char *text, size_t bytes);

/* Coverage: the process has launched CUDA graphs. */
bool sp_label_covers_graphs(const char *text, size_t bytes);

/* True where a process with this label may make steps: of an optimizer, or backwards; false: it is not worth
 * looking. */
bool sp_label_may_step(const char *text, size_t bytes);

/* True for the names of calls that save checkpoints, as preload/python.def gives them. */
bool sp_label_saves(const char *text, size_t bytes);

#endif
