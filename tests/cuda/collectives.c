/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL: every collective, and the kernel that each of them launches through the driver. Two
 * communicators: one has every call, the other a send in the same group and two smaller sums.
 *	collectives ROUNDS
 *	collectives ROUNDS FILE FILE	two copies of NCCL in addition to the linked one: functions
 * that dlsym finds
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_cuda.h"
#include "tests/programs/victims/tally.h"

enum { FLOAT16 = 6, FLOAT32 = 7, COUNT = 1000 };

/* One call, and the launch inside it. */
static void count(struct tally_row *nccl, struct tally_row *launch, int ret, int64_t bytes)
{
	EXPECT(ret == 0);
	tally_end(nccl, bytes);
	tally_begin(launch);
	tally_end(launch, 0);
}

/* As large as they are far apart. */
static char communicators[2][4096];

static void round_of(struct tally_row *nccl, struct tally_row *launch, void *comm, void *second)
{
	static char buffer[8 * COUNT];

	tally_begin(nccl);
	count(nccl, launch, ncclAllReduce(buffer, buffer, COUNT, FLOAT32, 0, comm, NULL),
	      4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclBroadcast(buffer, buffer, COUNT, FLOAT16, 0, comm, NULL),
	      2 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclAllGather(buffer, buffer, COUNT, FLOAT32, comm, NULL), 4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclReduceScatter(buffer, buffer, COUNT, FLOAT16, 0, comm, NULL),
	      2 * COUNT);
	EXPECT(ncclGroupStart() == 0);
	tally_begin(nccl);
	count(nccl, launch, ncclSend(buffer, COUNT, FLOAT32, 0, comm, NULL), 4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclRecv(buffer, COUNT, FLOAT32, 0, comm, NULL), 4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclSend(buffer, COUNT, FLOAT32, 0, second, NULL), 4 * COUNT);
	EXPECT(TALLY(nccl, ncclGroupEnd()) == 0);
	for (int i = 0; i < 2; i++) {
		tally_begin(nccl);
		count(nccl, launch,
		      ncclAllReduce(buffer, buffer, COUNT / 2, FLOAT16, 0, second, NULL), COUNT);
	}
	EXPECT(TALLY(nccl, ncclSend(buffer, COUNT, FLOAT32, 0, NULL, NULL)) == 4);
}

static void one_sided(struct tally_row *nccl, struct tally_row *launch, void *comm)
{
	static char buffer[8 * COUNT], window;

	tally_begin(nccl);
	count(nccl, launch,
	      ncclPutSignal(buffer, COUNT, FLOAT32, 0, &window, 64, 3, 5, 7, comm, NULL),
	      4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclSignal(0, 3, 5, 7, comm, NULL), 0);
	tally_begin(nccl);
	count(nccl, launch, ncclWaitSignal(1, buffer, comm, NULL), 0);
	tally_begin(nccl);
	count(nccl, launch, ncclBcast(buffer, COUNT, FLOAT32, 0, comm, NULL), 4 * COUNT);
}

/* By what a lookup gives: it has to be a function of the copy that was asked. */
static void by_lookup(struct tally_row *nccl, struct tally_row *launch, void *library)
{
	__typeof__(&ncclAllReduce) sum = (__typeof__(sum))dlsym(library, "ncclAllReduce");
	__typeof__(&ncclBcast) spread = (__typeof__(spread))dlsym(library, "ncclBcast");
	__typeof__(&ncclGroupEnd) end = (__typeof__(end))dlsym(library, "ncclGroupEnd");
	long (*calls)(void) = (long (*)(void))dlsym(library, "ncclFakeCalls"), before;
	static char buffer[8 * COUNT];

	EXPECT(sum && spread && end && calls && !dlerror());
	EXPECT(dlsym(library, "ncclAllReduce") == (void *)sum);
	before = calls();
	tally_begin(nccl);
	count(nccl, launch, sum(buffer, buffer, COUNT, FLOAT32, 0, communicators[0], NULL),
	      4 * COUNT);
	EXPECT(calls() == before + 1);
	/* The program goes on by an exported name, which the first loaded copy has. */
	tally_begin(nccl);
	count(nccl, launch, spread(buffer, COUNT, FLOAT16, 0, communicators[1], NULL), 2 * COUNT);
	EXPECT(TALLY(nccl, end()) == 0);
}

static void lookups(struct tally_row *nccl, struct tally_row *launch, long rounds, char **files)
{
	void *libraries[3] = {RTLD_DEFAULT};

	for (int i = 0; i < 2; i++)
		EXPECT((libraries[1 + i] = dlopen(files[i], RTLD_NOW | RTLD_LOCAL)) != NULL);
	for (long i = 0; i < rounds; i++)
		for (int k = 0; k < 3; k++)
			by_lookup(nccl, launch, libraries[k]);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10;
	struct tally_row *nccl = tally_row("nccl", ""), *launch = tally_row("cuda_launch", "");

	for (long i = 0; i < rounds && argc < 4; i++) {
		round_of(nccl, launch, communicators[0], communicators[1]);
		one_sided(nccl, launch, communicators[0]);
	}
	if (argc == 4)
		lookups(nccl, launch, rounds, argv + 2);
	puts("done");
	return 0;
}
