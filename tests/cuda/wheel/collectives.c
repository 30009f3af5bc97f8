/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnccl of the test bed, for jobs of one rank: each collective is one kernel on its stream.
 */
#include "library.h"

#include <string.h>

struct communicator {
	int ranks, rank;
};

int ncclGetVersion(int *ret);
int ncclGetVersion(int *ret)
{
	*ret = 23007;
	return 0;
}

int ncclGetUniqueId(void *ret);
int ncclGetUniqueId(void *ret)
{
	memset(ret, 7, 128);
	return 0;
}

const char *ncclGetErrorString(int error);
const char *ncclGetErrorString(int error)
{
	return error ? "an error of the test bed" : "no error";
}

const char *ncclGetLastError(void *communicator);
const char *ncclGetLastError(void *communicator)
{
	(void)communicator;
	return "";
}

struct unique_id {
	char bytes[128];
};

static int make(struct communicator **ret, int ranks, int rank)
{
	if (ranks != 1)
		return 5;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return 2;
	(*ret)->ranks = ranks;
	(*ret)->rank = rank;
	return 0;
}

int ncclCommInitRank(struct communicator **ret, int ranks, struct unique_id id, int rank);
int ncclCommInitRank(struct communicator **ret, int ranks, struct unique_id id, int rank)
{
	(void)id;
	return make(ret, ranks, rank);
}

int ncclCommInitRankConfig(struct communicator **ret, int ranks, struct unique_id id, int rank,
			   void *config);
int ncclCommInitRankConfig(struct communicator **ret, int ranks, struct unique_id id, int rank,
			   void *config)
{
	(void)id, (void)config;
	return make(ret, ranks, rank);
}

#define END(name)                                                                                  \
	int name(struct communicator *communicator);                                               \
	int name(struct communicator *communicator)                                                \
	{                                                                                          \
		(void)communicator;                                                                \
		return 0;                                                                          \
	}
END(ncclCommDestroy)
END(ncclCommAbort)
END(ncclCommFinalize)

int ncclCommGetAsyncError(struct communicator *communicator, int *ret);
int ncclCommGetAsyncError(struct communicator *communicator, int *ret)
{
	(void)communicator;
	*ret = 0;
	return 0;
}

int ncclCommCount(struct communicator *communicator, int *ret);
int ncclCommCount(struct communicator *communicator, int *ret)
{
	*ret = communicator->ranks;
	return 0;
}

int ncclCommUserRank(struct communicator *communicator, int *ret);
int ncclCommUserRank(struct communicator *communicator, int *ret)
{
	*ret = communicator->rank;
	return 0;
}

int ncclCommCuDevice(struct communicator *communicator, int *ret);
int ncclCommCuDevice(struct communicator *communicator, int *ret)
{
	(void)communicator;
	*ret = 0;
	return 0;
}

int ncclGroupStart(void);
int ncclGroupStart(void)
{
	return 0;
}

int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
	return 0;
}

/* By NCCL's number of a data type. */
static size_t bytes_of(size_t count, int type)
{
	static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

	return type >= 0 && type < 10 ? count * sizes[type] : 0;
}

/* The only rank has all that the others would have. */
static void move(void *to, const void *from, size_t count, int type)
{
	memmove(to, from, bytes_of(count, type));
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
		  struct communicator *communicator, void *stream);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
		  struct communicator *communicator, void *stream)
{
	(void)operation, (void)communicator;
	CALLED("ncclAllReduce");
	move(to, from, count, type);
	return LAUNCH("ncclDevKernel_AllReduce", stream);
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
		  struct communicator *communicator, void *stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
		  struct communicator *communicator, void *stream)
{
	(void)root, (void)communicator;
	CALLED("ncclBroadcast");
	move(to, from, count, type);
	return LAUNCH("ncclDevKernel_Broadcast", stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type,
		  struct communicator *communicator, void *stream);
int ncclAllGather(const void *from, void *to, size_t count, int type,
		  struct communicator *communicator, void *stream)
{
	(void)communicator;
	CALLED("ncclAllGather");
	move(to, from, count, type);
	return LAUNCH("ncclDevKernel_AllGather", stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
		      struct communicator *communicator, void *stream);
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
		      struct communicator *communicator, void *stream)
{
	(void)operation, (void)communicator;
	CALLED("ncclReduceScatter");
	move(to, from, count, type);
	return LAUNCH("ncclDevKernel_ReduceScatter", stream);
}

int ncclBcast(void *memory, size_t count, int type, int root, struct communicator *communicator,
	      void *stream);
int ncclBcast(void *memory, size_t count, int type, int root, struct communicator *communicator,
	      void *stream)
{
	(void)memory, (void)count, (void)type, (void)root, (void)communicator;
	CALLED("ncclBcast");
	return LAUNCH("ncclDevKernel_Broadcast", stream);
}
