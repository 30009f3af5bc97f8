/* SPDX-License-Identifier: Apache-2.0 */
/* A rank of tests/cuda/nccl_hang_program.py: communicators by number, on one stream. */
#include "fake_cuda.h"

#define SHOWN __attribute__((visibility("default")))
#define COMMS_MAX 600

enum { FLOAT32 = 7 };

SHOWN int join(int comm, int ranks, int rank, uint64_t id);
SHOWN int divide(int comm, int colour, int ret);
SHOWN int shrink(int comm, int ret);
SHOWN int leave(int comm);
SHOWN int sum(int comm, size_t count);
SHOWN int sum_by(int comm, size_t count);
SHOWN int spread(int comm, size_t count);
SHOWN int receive(int comm);
SHOWN int settle(void);

static void *comms[COMMS_MAX];
static char buffer[4096];

/* Each number in one of the three ways. */
int join(int comm, int ranks, int rank, uint64_t id)
{
	struct fake_nccl_id its = {{id}};

	if (comm % 3 == 0)
		return ncclCommInitRank(&comms[comm], ranks, its, rank);
	if (comm % 3 == 1)
		return ncclCommInitRankConfig(&comms[comm], ranks, its, rank, NULL);
	return ncclCommInitRankScalable(&comms[comm], ranks, rank, 1, &its, NULL);
}

int divide(int comm, int colour, int ret)
{
	return ncclCommSplit(comms[comm], colour, 0, &comms[ret], NULL);
}

int shrink(int comm, int ret)
{
	int last = 2;

	return ncclCommShrink(comms[comm], &last, 1, &comms[ret], NULL, 0);
}

int leave(int comm)
{
	return ncclCommFinalize(comms[comm]) | ncclCommDestroy(comms[comm]);
}

int sum(int comm, size_t count)
{
	return ncclAllReduce(buffer, buffer, count, FLOAT32, 0, comms[comm], NULL);
}

int sum_by(int comm, size_t count)
{
	return ncclAllReduceConfig(buffer, buffer, count, FLOAT32, 0, comms[comm], NULL, NULL);
}

int spread(int comm, size_t count)
{
	return ncclBroadcast(buffer, buffer, count, FLOAT32, 0, comms[comm], NULL);
}

/* Nobody sends: the device works for minutes. */
int receive(int comm)
{
	static const struct fake_dim3 one = {1, 1, 1};
	uint64_t ns = UINT64_C(200000000000);
	void *arguments[] = {&ns};

	return ncclRecv(buffer, 10, FLOAT32, 0, comms[comm], NULL) |
	       cudaLaunchKernel((const void *)receive, one, one, arguments, 0, NULL);
}

int settle(void)
{
	return cudaStreamSynchronize(NULL);
}
