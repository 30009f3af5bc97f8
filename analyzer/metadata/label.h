/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning that the label of a range has in training. PyTorch writes these labels itself:
 * torch/optim/optimizer.py (Optimizer.step#, Optimizer.zero_grad#) and
 * torch/utils/data/dataloader.py (enumerate(DataLoader)#); torch/csrc/distributed/c10d/Work.cpp,
 * with a title that each backend gives (gloo:all_reduce). Ranges of gloo, MPI and UCC last from the
 * call until the collective is done. Ranges of NCCL end when the collective is enqueued, so they do
 * not count as collectives.
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
	SP_LABEL_COLLECTIVE, /* a collective that ends on all ranks at once */
	SP_LABEL_GROUP,	     /* the making of a group of ranks: bootstrap.py */
};

/* A label of SP_LABEL_GROUP begins so, and its name follows. */
#define SP_LABEL_GROUP_BEGIN "process group "

enum sp_label sp_label_of(const char *text, size_t bytes);

/*
 * The bytes of a label that are its name. The step that torch.profiler marks ends in its number, so
 * each label inside would have a row for each step.
 */
size_t sp_label_bytes(const char *text, size_t bytes);

/*
 * The label as people read it: a module's label has tabs between its fields, and each becomes a
 * space. Returns text itself where it has no tab, else `room`, where a long label is cut. Not
 * NUL-terminated.
 */
#define SP_LABEL_ROOM 1024u
const char *sp_label_spaced(char room[SP_LABEL_ROOM], const char *text, size_t *bytes);

/* Coverage: torch.compile made a graph. */
bool sp_label_covers_compile(const char *text, size_t bytes);

/* True for the node of a graph that casts a gradient back. */
bool sp_label_casts(const char *text, size_t bytes);

/* Coverage: the process has launched CUDA graphs. */
bool sp_label_covers_graphs(const char *text, size_t bytes);

/* Coverage: the process may have spans of time on a device. */
bool sp_label_covers_device(const char *text, size_t bytes);

/* True where a process with this label may make steps: of an optimizer, or backwards; false: it is
 * not worth looking. */
bool sp_label_may_step(const char *text, size_t bytes);

/* True for the mark of sending to another rank, or of receiving: "gloo:send". */
bool sp_label_exchanges(const char *text, size_t bytes);

/* True for the names of calls that save checkpoints,
 * as preload/frameworks/python.def gives them. */
bool sp_label_saves(const char *text, size_t bytes);

/* The same of calls in which a loader, or its worker, makes a batch. */
bool sp_label_fetches(const char *text, size_t bytes);

#endif
