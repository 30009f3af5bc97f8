/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's own markers: record_function labels, DataLoader, Optimizer and DDP (USER_SCOPE),
 * nodes of the autograd graph (BACKWARD_FUNCTION), operators on request (FUNCTION). They come
 * through at::addGlobalCallback of the libtorch_cpu that the host has loaded: a public C++
 * interface, called here by its mangled names and the layout of ATen/record_function.h from 1.13
 * to 2.13.
 */
#ifndef STAGEPROF_PRELOAD_TORCH_H
#define STAGEPROF_PRELOAD_TORCH_H

/*
 * Call with libtorch_cpu loaded and PyTorch's own version text. Returns 1 if the markers are
 * bound; writes a coverage line either way. Once for each process; calls the dynamic linker: not
 * for the hook path.
 */
int sp_torch_attach(const char *version);

/* torch.compile has compiled some code, whose marks are gone: reported once for each image. */
void sp_torch_compiled(void);

/* A wrapped call of a backward has ended. If such calls mark the backward, nodes of the graph are
 * recorded for as many steps as STAGEPROF_OPS says. Async-signal-safe. */
void sp_torch_backward_called(void);

/* True where autograd records what this thread does, or where that is not known.
 * Async-signal-safe. */
int sp_torch_has_gradients(void);

#endif
