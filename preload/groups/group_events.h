/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of collectives that a process hands to a group of ranks (trace/collectives.def). Both are
 * instants. Safe on any thread; errno is kept.
 */
#ifndef STAGEPROF_PRELOAD_GROUP_EVENTS_H
#define STAGEPROF_PRELOAD_GROUP_EVENTS_H

#include <stdint.h>

#include "trace/collectives.h"

/* Call with libtorch_cpu loaded: finds the functions that tell a tensor's size. Calls the dynamic
 * linker: not for the hook path. */
void sp_collectives_attach(void *libtorch);

struct sp_recorder;

/* tensor: an at::Tensor, or NULL. A collective that is made of others (gloo's reduce_scatter calls
 * allreduce) is one: calls of the same thread are no events until the caller passes the result,
 * which may be NULL, to sp_collective_handed(). */
struct sp_recorder *sp_collective_begins(enum sp_collective operation, const void *group,
					 const void *tensor);
void sp_collective_handed(struct sp_recorder **r);

/* A group was made, at this address; rank: of this process in it. */
void sp_collective_group(const void *group, uint32_t rank, uint32_t size);

#endif
