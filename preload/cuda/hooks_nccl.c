/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL: bytes and communicator of each collective and each send and receive, as the host enqueues
 * them. Inside a group the work is launched by ncclGroupEnd. Prototypes and the numbers of types:
 * nccl.h 2.x to 2.30, unchanged since 2.7 except types added at the end.
 */
#include "preload/cuda/lookup_functions.h"

/* ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16,
 * and two float8. A type that came later counts as a byte. */
static uint64_t bytes_of(size_t count, int type)
{
	static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type >= 0 && (size_t)type < sizeof(bytes) ? count * bytes[type] : count;
}

#define NCCL(name, kind, arg, value, parameters, arguments)                                        \
	SP_LOOKUP_HOOK(name, "nccl", SP_CUDA_NCCL, SP_NCCL_CALLS, SP_EV_##kind, arg, value,        \
		       parameters, arguments)

#define COMM_ARG(comm) (uint32_t)((uintptr_t)(comm) >> 8)
#define RET_OR_ELEMENTS(count, type) sp_cuda_value(ret, bytes_of(count, type))

NCCL(ncclAllReduce, ncclAllReduce, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, int op, void *comm, void *stream),
     (from, to, count, type, op, comm, stream))
NCCL(ncclReduce, ncclReduce, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, int op, int root, void *comm,
      void *stream),
     (from, to, count, type, op, root, comm, stream))
NCCL(ncclBroadcast, ncclBroadcast, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, int root, void *comm, void *stream),
     (from, to, count, type, root, comm, stream))
NCCL(ncclBcast, ncclBroadcast, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (void *buffer, size_t count, int type, int root, void *comm, void *stream),
     (buffer, count, type, root, comm, stream))
NCCL(ncclAllGather, ncclAllGather, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, void *comm, void *stream),
     (from, to, count, type, comm, stream))
NCCL(ncclReduceScatter, ncclReduceScatter, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, int op, void *comm, void *stream),
     (from, to, count, type, op, comm, stream))
NCCL(ncclAlltoAll, ncclAlltoAll, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, void *comm, void *stream),
     (from, to, count, type, comm, stream))
NCCL(ncclGather, ncclGather, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, int root, void *comm, void *stream),
     (from, to, count, type, root, comm, stream))
NCCL(ncclScatter, ncclScatter, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, void *to, size_t count, int type, int root, void *comm, void *stream),
     (from, to, count, type, root, comm, stream))
NCCL(ncclSend, ncclSend, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (const void *from, size_t count, int type, int peer, void *comm, void *stream),
     (from, count, type, peer, comm, stream))
NCCL(ncclRecv, ncclRecv, COMM_ARG(comm), RET_OR_ELEMENTS(count, type),
     (void *to, size_t count, int type, int peer, void *comm, void *stream),
     (to, count, type, peer, comm, stream))
/* 7 is ncclInProgress: a communicator that does not block. */
NCCL(ncclGroupEnd, ncclGroupEnd, 0, ret == 7 ? 1 : sp_cuda_value(ret, 0), (void), ())

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
