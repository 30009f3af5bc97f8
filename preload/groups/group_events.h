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
struct sp_thread;

/* tensor: an at::Tensor, or NULL. A collective that is made of others (gloo's reduce_scatter calls
 * allreduce) is one: calls of the same thread are no events until the caller passes the result,
 * which may be NULL, to sp_collective_handed(). */
struct sp_recorder *sp_collective_begins(enum sp_collective operation, const void *group,
					 const void *tensor);
void sp_collective_handed(struct sp_recorder **r);

/* On a thread that records, before the call is made. type: of collectives.def. */
void sp_collective_enqueued(struct sp_thread *t, enum sp_collective operation, const void *group,
			    int64_t elements, uint32_t type);

/* That call failed. */
void sp_collective_refused(struct sp_thread *t, const void *group);

/* A group of this process. */
struct sp_group_made {
	const void *group;   /* its address */
	uint32_t rank, size; /* of this process, and of all */
	enum sp_group_origin origin;
	uint64_t which; /* the second EXTRA word */
};

void sp_collective_group(const struct sp_group_made *made);

#endif
