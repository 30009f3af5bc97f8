/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of device memory and of pinned host memory, from the allocations that were seen: the
 * direction of a copy is known without asking CUDA. Device ranges matter only for copies that
 * leave the direction to CUDA. All functions are async-signal-safe and lock-free.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_MEMORY_H
#define STAGEPROF_PRELOAD_CUDA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "trace/events.h"

enum sp_cuda_memory { SP_CUDA_PINNED, SP_CUDA_DEVICE, SP_CUDA_MEMORIES };

/* Ranges of each sort. Above that number, an address that is not found is not known. */
#define SP_CUDA_RANGES 1024u

void sp_cuda_memory_add(enum sp_cuda_memory what, const void *begin, size_t bytes);

/* `begin` as it was added; other addresses are ignored. */
void sp_cuda_memory_remove(enum sp_cuda_memory what, const void *begin);

/* The low bits of a copy's arg. `direction` is cudaMemcpyKind: cudaMemcpyDefault is looked up. */
uint32_t sp_cuda_copy_arg(const void *stream, int direction, const void *to, const void *from);

#endif
