/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL: bytes and communicator of each collective and each send and receive, as the host enqueues
 * them. Inside a group the work is launched by ncclGroupEnd. A collective is an instant before the
 * call, too: one that never returns is in the trace. Prototypes and the numbers of types: nccl.h
 * 2.x to 2.31, unchanged since 2.7 except types added at the end.
 */
#include "preload/cuda/lookup_functions.h"
#include "preload/groups/group_events.h"

#define IN_PROGRESS 7 /* ncclInProgress: a communicator that does not block */

/* ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16,
 * and two float8. A type that came later counts as a byte. */
static uint64_t bytes_of(size_t count, int type)
{
	static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type >= 0 && (size_t)type < sizeof(bytes) ? count * bytes[type] : count;
}

/* As collectives.def numbers them. */
static uint32_t element_of(int type)
{
	static const uint8_t elements[] = {1, 0, 3, 28, 4, 29, 5, 6, 7, 15, 24, 23};

	return type >= 0 && (size_t)type < sizeof(elements) ? elements[type] : SP_ELEMENT_UNKNOWN;
}

#define NCCL(name, kind, arg, value, parameters, arguments)                                        \
	SP_LOOKUP_HOOK(name, "nccl", SP_CUDA_NCCL, SP_NCCL_CALLS, SP_EV_##kind, arg, value,        \
		       parameters, arguments)

#define COMM_ARG(comm) (uint32_t)((uintptr_t)(comm) >> 8)
#define RET_OR_ELEMENTS(count, type) sp_cuda_value(ret, bytes_of(count, type))

static uint32_t enqueued(struct sp_thread *t, enum sp_collective operation, const void *comm,
			 size_t count, int type)
{
	sp_collective_enqueued(t, operation, comm, (int64_t)count, element_of(type));
	return COMM_ARG(comm);
}

static int64_t handed(const struct sp_cuda_call *call, int ret, const void *comm, uint64_t bytes)
{
	if (ret && ret != IN_PROGRESS && call->span.thread)
		sp_collective_refused(call->span.thread, comm);
	return ret == IN_PROGRESS ? (int64_t)bytes : sp_cuda_value(ret, bytes);
}

/* Two functions: with a configuration since 2.31. */
#define COLLECTIVE(name, kind, operation, parameters, arguments)                                   \
	COLLECTIVE_AS(name, kind, operation, (SP_UNPACK parameters), (SP_UNPACK arguments))        \
	COLLECTIVE_AS(name##Config, kind, operation, (SP_UNPACK parameters, const void *config),   \
		      (SP_UNPACK arguments, config))
#define COLLECTIVE_AS(name, kind, operation, parameters, arguments)                                \
	NCCL(name, kind, enqueued(call_thread, SP_COLLECTIVE_##operation, comm, count, type),      \
	     handed(&call, ret, comm, bytes_of(count, type)), parameters, arguments)

COLLECTIVE(ncclAllReduce, ncclAllReduce, all_reduce,
	   (const void *from, void *to, size_t count, int type, int op, void *comm, void *stream),
	   (from, to, count, type, op, comm, stream))
COLLECTIVE(ncclReduce, ncclReduce, reduce,
	   (const void *from, void *to, size_t count, int type, int op, int root, void *comm,
	    void *stream),
	   (from, to, count, type, op, root, comm, stream))
COLLECTIVE(ncclBroadcast, ncclBroadcast, broadcast,
	   (const void *from, void *to, size_t count, int type, int root, void *comm, void *stream),
	   (from, to, count, type, root, comm, stream))
COLLECTIVE_AS(ncclBcast, ncclBroadcast, broadcast,
	      (void *buffer, size_t count, int type, int root, void *comm, void *stream),
	      (buffer, count, type, root, comm, stream))
COLLECTIVE(ncclAllGather, ncclAllGather, all_gather,
	   (const void *from, void *to, size_t count, int type, void *comm, void *stream),
	   (from, to, count, type, comm, stream))
COLLECTIVE(ncclReduceScatter, ncclReduceScatter, reduce_scatter,
	   (const void *from, void *to, size_t count, int type, int op, void *comm, void *stream),
	   (from, to, count, type, op, comm, stream))
COLLECTIVE(ncclAlltoAll, ncclAlltoAll, all_to_all,
	   (const void *from, void *to, size_t count, int type, void *comm, void *stream),
	   (from, to, count, type, comm, stream))
COLLECTIVE(ncclGather, ncclGather, gather,
	   (const void *from, void *to, size_t count, int type, int root, void *comm, void *stream),
	   (from, to, count, type, root, comm, stream))
COLLECTIVE(ncclScatter, ncclScatter, scatter,
	   (const void *from, void *to, size_t count, int type, int root, void *comm, void *stream),
	   (from, to, count, type, root, comm, stream))
NCCL(ncclSend, ncclSend, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, size_t count, int type, int peer, void *comm, void *stream),
     (from, count, type, peer, comm, stream))
NCCL(ncclRecv, ncclRecv, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (void *to, size_t count, int type, int peer, void *comm, void *stream),
     (to, count, type, peer, comm, stream))
#define RET_OR_PROGRESS (ret == IN_PROGRESS ? 1 : sp_cuda_value(ret, 0))
NCCL(ncclGroupEnd, ncclGroupEnd, 0, RET_OR_PROGRESS, (void), ())

/* One-sided (nccl.h 2.30): what is put has bytes, a signal has none. */
NCCL(ncclPutSignal, ncclPutSignal, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, size_t count, int type, int peer, void *window, size_t offset, int signal,
      int context, unsigned flags, void *comm, void *stream),
     (from, count, type, peer, window, offset, signal, context, flags, comm, stream))
NCCL(ncclSignal, ncclSignal, COMM_ARG(comm), sp_cuda_value(ret, 0),
     (int peer, int signal, int context, unsigned flags, void *comm, void *stream),
     (peer, signal, context, flags, comm, stream))
NCCL(ncclWaitSignal, ncclWaitSignal, COMM_ARG(comm), sp_cuda_value(ret, 0),
     (int count, void *signals, void *comm, void *stream), (count, signals, comm, stream))

/* ncclUniqueId, which is passed by value. */
struct unique_id {
	unsigned char bytes[128];
};

/* FNV-1a; never 0. */
static uint64_t hash_of(const void *bytes, size_t count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

/* The outermost call emits it. A communicator that does not block has its address at once. */
static int64_t made(const struct sp_cuda_call *call, int ret, const struct sp_group_made *group)
{
	if (call->span.thread && (!ret || ret == IN_PROGRESS) &&
	    (group->group || group->origin == SP_GROUP_OF_PARENT))
		sp_collective_group(group);
	return RET_OR_PROGRESS;
}

#define IS_MADE (!ret || ret == IN_PROGRESS)
#define MADE(...) made(&call, ret, &(struct sp_group_made){__VA_ARGS__})
#define MADE_OF_ID(comm, size_of_it, id, rank_of_it)                                               \
	MADE(.group = IS_MADE ? *(comm) : NULL, .size = (uint32_t)(size_of_it),                    \
	     .rank = (uint32_t)(rank_of_it), .origin = SP_GROUP_OF_ID,                             \
	     .which = IS_MADE ? hash_of(id, sizeof(struct unique_id)) : 0)
#define MADE_OF_PARENT(parent, part, size_of_it)                                                   \
	MADE(.group = IS_MADE ? *ret_comm : NULL, .rank = SP_GROUP_RANK_UNKNOWN,                   \
	     .size = size_of_it, .origin = SP_GROUP_OF_PARENT,                                     \
	     .which = COMM_ARG(parent) | (uint64_t)(part) << 32)

NCCL(ncclCommInitRank, ncclCommInitRank, 0, MADE_OF_ID(ret_comm, ranks, &id, rank),
     (void **ret_comm, int ranks, struct unique_id id, int rank), (ret_comm, ranks, id, rank))
NCCL(ncclCommInitRankConfig, ncclCommInitRank, 0, MADE_OF_ID(ret_comm, ranks, &id, rank),
     (void **ret_comm, int ranks, struct unique_id id, int rank, void *config),
     (ret_comm, ranks, id, rank, config))
/* All ranks give the same ids. */
NCCL(ncclCommInitRankScalable, ncclCommInitRank, 0, MADE_OF_ID(ret_comm, ranks, ids, rank),
     (void **ret_comm, int ranks, int rank, int id_count, const struct unique_id *ids,
      void *config),
     (ret_comm, ranks, rank, id_count, ids, config))

/* All ranks are in this process. */
static int64_t all_made(const struct sp_cuda_call *call, int ret, void **comms, int count)
{
	uint64_t which = sp_clock_ticks() ^ (uintptr_t)comms;

	for (int i = 0; i < count && !ret; i++)
		made(call, ret,
		     &(struct sp_group_made){comms[i], (uint32_t)i, (uint32_t)count, SP_GROUP_OF_ID,
					     hash_of(&which, sizeof(which))});
	return RET_OR_PROGRESS;
}

NCCL(ncclCommInitAll, ncclCommInitRank, 0, all_made(&call, ret, comms, count),
     (void **comms, int count, const int *devices), (comms, count, devices))

/* A negative colour: of no part. */
NCCL(ncclCommSplit, ncclCommSplit, COMM_ARG(comm),
     MADE_OF_PARENT(comm, colour < 0 ? SP_GROUP_NO_PART : (uint32_t)colour, 0),
     (void *comm, int colour, int key, void **ret_comm, void *config),
     (comm, colour, key, ret_comm, config))
NCCL(ncclCommShrink, ncclCommSplit, COMM_ARG(comm), MADE_OF_PARENT(comm, 0u, 0),
     (void *comm, int *excluded, int excluded_count, void **ret_comm, void *config, int flags),
     (comm, excluded, excluded_count, ret_comm, config, flags))

/* A rank that was in the parent has it, and no id. */
NCCL(ncclCommGrow, ncclCommSplit, COMM_ARG(comm),
     comm ? MADE_OF_PARENT(comm, 0u, (uint32_t)ranks) : MADE_OF_ID(ret_comm, ranks, id, rank),
     (void *comm, int ranks, const struct unique_id *id, int rank, void **ret_comm, void *config),
     (comm, ranks, id, rank, ret_comm, config))

#define ENDS(name)                                                                                 \
	NCCL(name, ncclCommDestroy, COMM_ARG(comm), RET_OR_PROGRESS, (void *comm), (comm))
ENDS(ncclCommFinalize)
ENDS(ncclCommDestroy)
ENDS(ncclCommAbort)
