/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnccl of the test bed, for ranks on one machine: a collective moves data through shared memory,
 * and is one kernel on its stream. It begins on each rank when the stream comes to it, and ends on
 * all at one time: SIM_NCCL_NS_PER_KIB (100 if unset) after the last rank's begin. Other than the
 * real one, the call itself waits until all ranks have made it. No point-to-point, no split.
 */
#define _GNU_SOURCE
#include "library.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define RANKS_MAX 8
#define SLOT_BYTES ((size_t)64 << 20)
#define WAIT_MOST_NS INT64_C(60000000000)

enum { OK, SYSTEM_ERROR = 2, INTERNAL_ERROR = 3, INVALID_ARGUMENT = 4 };
enum { SUM, PRODUCT, MAX, MIN, AVERAGE };
enum { INT32 = 2, INT64 = 4, FLOAT32 = 7, FLOAT64 = 8 };

/* Shared by the ranks. The slots of SLOT_BYTES, one a rank, follow. */
struct meeting {
	_Atomic uint64_t arrived; /* of all barriers */
	_Atomic uint64_t has_failed;
	int64_t begin_ns[RANKS_MAX];
};

struct communicator {
	int ranks, rank;
	struct meeting *meeting;
	uint64_t barriers;
	pthread_mutex_t lock;
};

static size_t meeting_bytes(int ranks)
{
	return 4096 + (size_t)ranks * SLOT_BYTES;
}

static char *slot_of(const struct communicator *c, int rank)
{
	return (char *)c->meeting + 4096 + (size_t)rank * SLOT_BYTES;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* False where a rank does not come. */
static bool meet(struct communicator *c)
{
	uint64_t all = ++c->barriers * (uint64_t)c->ranks;
	int64_t give_up_ns = now_ns() + WAIT_MOST_NS;
	struct timespec pause = {0, 50000};

	atomic_fetch_add(&c->meeting->arrived, 1);
	while (atomic_load(&c->meeting->arrived) < all) {
		if (atomic_load(&c->meeting->has_failed) || now_ns() > give_up_ns) {
			atomic_store(&c->meeting->has_failed, 1);
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

int ncclGetVersion(int *ret);
int ncclGetVersion(int *ret)
{
	*ret = 23007;
	return 0;
}

int ncclGetUniqueId(void *ret);
int ncclGetUniqueId(void *ret)
{
	memset(ret, 0, 128);
	return getrandom(ret, 8, 0) == 8 ? OK : SYSTEM_ERROR;
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

/* The last to come takes the name away. */
static int make(struct communicator **ret, int ranks, const struct unique_id *id, int rank)
{
	struct communicator *c = calloc(1, sizeof(*c));
	uint64_t key;
	char name[64];
	int file;

	if (ranks < 1 || ranks > RANKS_MAX || !c)
		return INVALID_ARGUMENT;
	memcpy(&key, id->bytes, sizeof(key));
	snprintf(name, sizeof(name), "/sim-nccl-%llx", (unsigned long long)key);
	file = shm_open(name, O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, (off_t)meeting_bytes(ranks)))
		return SYSTEM_ERROR;
	c->meeting = mmap(NULL, meeting_bytes(ranks), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_NORESERVE, file, 0);
	close(file);
	if (c->meeting == MAP_FAILED)
		return SYSTEM_ERROR;
	c->ranks = ranks;
	c->rank = rank;
	pthread_mutex_init(&c->lock, NULL);
	*ret = c;
	if (!meet(c))
		return INTERNAL_ERROR;
	shm_unlink(name);
	return OK;
}

int ncclCommInitRank(struct communicator **ret, int ranks, struct unique_id id, int rank);
int ncclCommInitRank(struct communicator **ret, int ranks, struct unique_id id, int rank)
{
	return make(ret, ranks, &id, rank);
}

int ncclCommInitRankConfig(struct communicator **ret, int ranks, struct unique_id id, int rank,
			   void *config);
int ncclCommInitRankConfig(struct communicator **ret, int ranks, struct unique_id id, int rank,
			   void *config)
{
	(void)config;
	return make(ret, ranks, &id, rank);
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
	static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type >= 0 && type < 12 ? count * sizes[type] : 0;
}

#define REDUCE(type)                                                                               \
	for (size_t i = 0; i < count; i++) {                                                       \
		type *a = (type *)to + i, b = ((const type *)from)[i];                             \
		*a = operation == MAX	    ? (*a > b ? *a : b)                                    \
		     : operation == MIN	    ? (*a < b ? *a : b)                                    \
		     : operation == PRODUCT ? *a * b                                               \
					    : *a + b;                                              \
	}

/* Other types, which nothing here reads, stay those of rank 0; an average stays a sum. */
static void reduce(void *to, const void *from, size_t count, int type, int operation)
{
	if (type == FLOAT32)
		REDUCE(float)
	else if (type == FLOAT64)
		REDUCE(double)
	else if (type == INT32)
		REDUCE(int32_t)
	else if (type == INT64)
		REDUCE(int64_t)
}

/* The parts of all ranks, one after the other. */
static void gather(const struct communicator *c, char *to, size_t bytes)
{
	for (int rank = 0; rank < c->ranks; rank++)
		memcpy(to + (size_t)rank * bytes, slot_of(c, rank), bytes);
}

static void combine(const struct communicator *c, void *to, size_t first, size_t count, int type,
		    int operation)
{
	size_t offset = bytes_of(first, type);

	memcpy(to, slot_of(c, 0) + offset, bytes_of(count, type));
	for (int rank = 1; rank < c->ranks; rank++)
		reduce(to, slot_of(c, rank) + offset, count, type, operation);
}

static int64_t begin_ns(void *stream)
{
	static __typeof__(&sim_stream_begin_ns) begin_of;
	static __typeof__(&sim_stream_of) stream_of;

	if (!begin_of) {
		void *library = dlopen("libcuda.so.1", RTLD_NOW);

		stream_of = (__typeof__(stream_of))dlsym(library, "sim_stream_of");
		begin_of = (__typeof__(begin_of))dlsym(library, "sim_stream_begin_ns");
	}
	return begin_of(stream_of(stream));
}

/* One kernel, from this rank's begin to the end of all. Its few bytes stay: the bed's log has its
 * name. */
static int launch(const struct communicator *c, const char *name, size_t bytes, void *stream)
{
	const char *price = getenv("SIM_NCCL_NS_PER_KIB");
	struct sim_kernel *kernel = calloc(1, sizeof(*kernel));
	int64_t last = 0;

	if (!kernel)
		return SYSTEM_ERROR;
	for (int rank = 0; rank < c->ranks; rank++)
		last = c->meeting->begin_ns[rank] > last ? c->meeting->begin_ns[rank] : last;
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	kernel->ns = last - c->meeting->begin_ns[c->rank] +
		     (int64_t)(bytes / 1024 + 1) * (price ? atol(price) : 100);
	return sim_library_launch(kernel, stream);
}

/* Each rank puts `bytes` of `from` into its slot, then takes from all slots. */
#define COLLECTIVE(name, from, bytes, stream, take)                                                \
	int r = OK;                                                                                \
	CALLED("nccl" name);                                                                       \
	if ((bytes) > SLOT_BYTES)                                                                  \
		return INVALID_ARGUMENT;                                                           \
	pthread_mutex_lock(&c->lock);                                                              \
	memcpy(slot_of(c, c->rank), from, bytes);                                                  \
	c->meeting->begin_ns[c->rank] = begin_ns(stream);                                          \
	if (meet(c)) {                                                                             \
		take;                                                                              \
		r = launch(c, "ncclDevKernel_" name, bytes, stream);                               \
	}                                                                                          \
	r = meet(c) ? r : INTERNAL_ERROR;                                                          \
	pthread_mutex_unlock(&c->lock);                                                            \
	return r

int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
		  struct communicator *c, void *stream);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
		  struct communicator *c, void *stream)
{
	COLLECTIVE("AllReduce", from, bytes_of(count, type), stream,
		   combine(c, to, 0, count, type, operation));
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
		  struct communicator *c, void *stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
		  struct communicator *c, void *stream)
{
	COLLECTIVE("Broadcast", from, bytes_of(count, type), stream,
		   memcpy(to, slot_of(c, root), bytes_of(count, type)));
}

int ncclBcast(void *memory, size_t count, int type, int root, struct communicator *c, void *stream);
int ncclBcast(void *memory, size_t count, int type, int root, struct communicator *c, void *stream)
{
	COLLECTIVE("Bcast", memory, bytes_of(count, type), stream,
		   memcpy(memory, slot_of(c, root), bytes_of(count, type)));
}

int ncclAllGather(const void *from, void *to, size_t count, int type, struct communicator *c,
		  void *stream);
int ncclAllGather(const void *from, void *to, size_t count, int type, struct communicator *c,
		  void *stream)
{
	COLLECTIVE("AllGather", from, bytes_of(count, type), stream,
		   gather(c, to, bytes_of(count, type)));
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
		      struct communicator *c, void *stream);
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
		      struct communicator *c, void *stream)
{
	COLLECTIVE("ReduceScatter", from, bytes_of((size_t)c->ranks * count, type), stream,
		   combine(c, to, (size_t)c->rank * count, count, type, operation));
}
