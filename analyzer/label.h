/*
 * What the label of a range tells of training. PyTorch writes these labels itself:
 * torch/optim/optimizer.py (Optimizer.step#, Optimizer.zero_grad#) and
 * torch/utils/data/dataloader.py (enumerate(DataLoader)#).
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
};

enum sp_label sp_label_of(const char *text, size_t bytes);

/* True where a process with this label may step an optimizer; false: it is not worth looking. */
bool sp_label_may_step(const char *text, size_t bytes);

#endif
