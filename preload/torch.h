/*
 * PyTorch's own markers: record_function labels, DataLoader, Optimizer and DDP (USER_SCOPE), nodes of the
 * autograd graph (BACKWARD_FUNCTION), operators where asked for (FUNCTION). They reach us through
 * at::addGlobalCallback of the libtorch_cpu that the host has loaded: a public C++ interface, called
 * here by its mangled names and the layout that ATen/record_function.h has had from 1.13 to 2.13.
 */
#ifndef STAGEPROF_PRELOAD_TORCH_H
#define STAGEPROF_PRELOAD_TORCH_H

/*
 * With libtorch_cpu loaded and PyTorch's version as it says itself. Returns 1 where the markers are bound;
 * writes a coverage line either way. Once a process; calls the dynamic linker: not for the hook path.
 */
int sp_torch_attach(const char *version);

/* torch.compile has made a graph of some code: its marks are gone, which is told once an image. */
void sp_torch_compiled(void);

/* A wrapped call of a backward has ended. Nodes of the graph are recorded for as many steps as STAGEPROF_NODES says,
 * where it is such calls that tell of the backward. Async-signal-safe. */
void sp_torch_backward_called(void);

#endif
