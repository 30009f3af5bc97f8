/*
 * What coverage says of CUDA: which libraries the calls went to, and which are loaded and were never called.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_COVER_H
#define STAGEPROF_PRELOAD_CUDA_COVER_H

enum sp_cuda_group { SP_CUDA_RUNTIME, SP_CUDA_DRIVER, SP_CUDA_NCCL, SP_CUDA_GROUPS };

/* The library of `function` was called. Said once for each library and process image. */
void sp_cuda_cover(enum sp_cuda_group group, const void *function);

/* It gave a function away that is hooked. Not said before something was recorded, for looking
 * functions up begins no run. */
void sp_cuda_cover_found(enum sp_cuda_group group, const void *function);

/* A function of the driver was asked for whose ABI is not known: it is not hooked. `name` lives for
 * good. Said likewise. */
void sp_cuda_cover_unknown(const char *name);

/* The process ends: what was not said. */
void sp_cuda_cover_end(void);

#endif
