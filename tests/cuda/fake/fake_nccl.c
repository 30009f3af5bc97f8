/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnccl.so.2: a collective is one kernel, launched through the driver, as the real one's are. On
 * a communicator that was made here it ends once the streams of all ranks have come to it; any
 * other address is one whose ranks nobody waits for. Ranks meet in files of the folder
 * FAKE_NCCL_FOLDER.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_cuda.h"

#define MAGIC UINT64_C(0x6b616620636c6363)
#define SPLITS_MAX 16

/* Shared by the ranks. */
struct meeting {
	_Atomic uint64_t begun[FAKE_NCCL_RANKS_MAX]; /* collectives that its stream has come to */
	_Atomic int colours[SPLITS_MAX][FAKE_NCCL_RANKS_MAX]; /* and 1; 0: not there yet */
};

struct communicator {
	uint64_t magic, key, splits;
	int ranks, rank;
	struct meeting *meeting;
	char more[4096]; /* as large as the real one, by whose address it is known */
};

static int (*launch_kernel)(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			    unsigned by, unsigned bz, unsigned shared, void *stream,
			    void **arguments, void **extra);

static int (*launch_function)(void *stream, void (*function)(void *), void *data);

static void begin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int (*find)(const char *, void **, int, uint64_t, int *) = NULL;
	void *function = NULL;

	if (library)
		find = (int (*)(const char *, void **, int, uint64_t, int *))dlsym(library, "cuGetP"
											    "rocAdd"
											    "ress_"
											    "v2");
	if (find)
		find("cuLaunchKernel", &function, 13000, 0, NULL);
	launch_kernel = (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
				 unsigned, void *, void **, void **))function;
	if (find)
		find("cuLaunchHostFunc", &function, 13000, 0, NULL);
	launch_function = (int (*)(void *, void (*)(void *), void *))function;
}

static long calls;

long ncclFakeCalls(void)
{
	return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

/* The stream waits for those of the other ranks. */
static void meet(void *data)
{
	struct communicator *c = data;
	uint64_t now = atomic_fetch_add(&c->meeting->begun[c->rank], 1) + 1;

	for (int rank = 0; rank < c->ranks; rank++)
		while (atomic_load(&c->meeting->begun[rank]) < now)
			usleep(1000);
}

/* Callers pass numbers, too. */
static int is_made(const void *comm)
{
	return (uintptr_t)comm > 65536 && ((const struct communicator *)comm)->magic == MAGIC;
}

/* ncclSuccess 0, ncclUnhandledCudaError 1, ncclInvalidArgument 4 */
static int work_of(size_t count, void *comm, void *stream, int meets)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t ns = 1000 + count / 10;
	void *arguments[] = {&ns};

	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	pthread_once(&once, begin);
	if (!comm)
		return 4;
	if (!launch_kernel)
		return 1;
	if (is_made(comm) && !count)
		return 4;
	if (meets && is_made(comm) && launch_function(stream, meet, comm))
		return 1;
	return launch_kernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL) ? 1 : 0;
}

static int work(size_t count, void *comm, void *stream)
{
	return work_of(count, comm, stream, 1);
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
		  void *stream)
{
	return work(count, comm, stream);
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
		  void *stream)
{
	return work(count, comm, stream);
}

/* As the real one, by its own exported function: one call of the user's. */
int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream)
{
	return work(count, comm, stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, void *comm,
		      void *stream)
{
	return work(count, comm, stream);
}

int ncclAllReduceConfig(const void *from, void *to, size_t count, int type, int op, void *comm,
			void *stream, const void *config)
{
	return work(count, comm, stream);
}

int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream)
{
	return work_of(count, comm, stream, 0);
}

int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream)
{
	return work_of(count, comm, stream, 0);
}

int ncclPutSignal(const void *from, size_t count, int type, int peer, void *window, size_t offset,
		  int signal, int context, unsigned flags, void *comm, void *stream)
{
	return window && offset == 64 && flags == 7 ? work(count, comm, stream) : 4;
}

int ncclSignal(int peer, int signal, int context, unsigned flags, void *comm, void *stream)
{
	return flags == 7 ? work(1, comm, stream) : 4;
}

int ncclWaitSignal(int count, void *signals, void *comm, void *stream)
{
	return signals ? work((size_t)count, comm, stream) : 4;
}

int ncclGroupStart(void)
{
	return 0;
}

int ncclGroupEnd(void)
{
	return 0;
}

static int make(void **ret, int ranks, int rank, uint64_t key)
{
	const char *folder = getenv("FAKE_NCCL_FOLDER");
	struct communicator *c = calloc(1, sizeof(*c));
	char path[512];
	int file;

	snprintf(path, sizeof(path), "%s/nccl-%llx", folder ? folder : ".",
		 (unsigned long long)key);
	file = open(path, O_RDWR | O_CREAT, 0600);
	if (!c || ranks > FAKE_NCCL_RANKS_MAX || file < 0 ||
	    ftruncate(file, sizeof(struct meeting)))
		return 2;
	c->magic = MAGIC;
	c->key = key;
	c->ranks = ranks;
	c->rank = rank;
	c->meeting =
		mmap(NULL, sizeof(struct meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	*ret = c;
	return c->meeting == MAP_FAILED ? 2 : 0;
}

int ncclCommInitRank(void **comm, int ranks, struct fake_nccl_id id, int rank)
{
	return make(comm, ranks, rank, id.words[0]);
}

int ncclCommInitRankConfig(void **comm, int ranks, struct fake_nccl_id id, int rank, void *config)
{
	return make(comm, ranks, rank, id.words[0]);
}

int ncclCommInitRankScalable(void **comm, int ranks, int rank, int id_count,
			     struct fake_nccl_id *ids, void *config)
{
	return make(comm, ranks, rank, ids->words[0]);
}

int ncclCommInitAll(void **comms, int count, const int *devices)
{
	for (int i = 0; i < count; i++)
		if (make(comms + i, count, i, (uint64_t)getpid() << 32))
			return 2;
	return 0;
}

/* Ordered by the parent's ranks. */
int ncclCommSplit(void *comm, int colour, int key, void **ret, void *config)
{
	struct communicator *c = comm;
	_Atomic int *colours = c->meeting->colours[c->splits++ % SPLITS_MAX];
	int ranks = 0, rank = 0;

	*ret = NULL;
	atomic_store(&colours[c->rank], colour < 0 ? -1 : colour + 1);
	for (int other = 0; other < c->ranks; other++) {
		int its;

		while (!(its = atomic_load(&colours[other])))
			usleep(1000);
		ranks += its == colour + 1;
		rank += its == colour + 1 && other < c->rank;
	}
	return colour < 0 ? 0
			  : make(ret, ranks, rank, c->key + c->splits * 1000 + (uint64_t)colour);
}

/* The last ranks are left out. */
int ncclCommShrink(void *comm, int *excluded, int excluded_count, void **ret, void *config,
		   int flags)
{
	struct communicator *c = comm;

	return make(ret, c->ranks - excluded_count, c->rank, c->key + ++c->splits * 1000 + 999);
}

int ncclCommGrow(void *comm, int ranks, const struct fake_nccl_id *id, int rank, void **ret,
		 void *config)
{
	return make(ret, ranks, comm ? ((struct communicator *)comm)->rank : rank,
		    comm ? ((struct communicator *)comm)->key + 500 : id->words[0]);
}

int ncclCommFinalize(void *comm)
{
	return 0;
}

/* The memory stays: a stream may still be in a collective. */
int ncclCommDestroy(void *comm)
{
	return 0;
}

int ncclCommAbort(void *comm)
{
	return 0;
}
