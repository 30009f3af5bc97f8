/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnccl of the test bed, for ranks on one machine: a collective moves data through shared memory,
 * and is one kernel on its stream. It begins on each rank when the stream comes to it, and ends on
 * all at one time: SIM_NCCL_NS_PER_KIB (100 if unset) after the last rank's begin. Other than the
 * real one, the call itself waits until all ranks have made it. The sends and receives of a group
 * are one kernel, which ends so long after the last of its senders began; a send does not wait for
 * its receiver.
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
#define MAIL_BYTES ((size_t)16 << 20)
#define MESSAGES_MAX 256
#define WAIT_MOST_NS INT64_C(60000000000)

enum { OK, SYSTEM_ERROR = 2, INTERNAL_ERROR = 3, INVALID_ARGUMENT = 4 };
enum { SUM, PRODUCT, MAX, MIN, AVERAGE };
enum { INT32 = 2, INT64 = 4, FLOAT32 = 7, FLOAT64 = 8 };

/* A message on its way from one rank to another. */
struct mail {
	_Atomic int is_full;
	int64_t begin_ns;
};

/* Shared by the ranks. The slots of SLOT_BYTES, one a rank,
 * follow, then MAIL_BYTES for each pair. */
struct meeting {
	_Atomic uint64_t arrived; /* of all barriers */
	_Atomic uint64_t has_failed;
	int64_t begin_ns[RANKS_MAX];
	struct mail mail[RANKS_MAX][RANKS_MAX]; /* from, to */
};

struct communicator {
	int ranks, rank;
	uint64_t key, splits;
	struct meeting *meeting;
	uint64_t barriers;
	pthread_mutex_t lock;
};

static size_t meeting_bytes(int ranks)
{
	size_t count = (size_t)ranks;

	return 4096 + count * SLOT_BYTES + count * count * MAIL_BYTES;
}

static char *slot_of(const struct communicator *c, int rank)
{
	return (char *)c->meeting + 4096 + (size_t)rank * SLOT_BYTES;
}

static char *mail_of(const struct communicator *c, int from, int to)
{
	return slot_of(c, c->ranks) + (size_t)(from * c->ranks + to) * MAIL_BYTES;
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
static int make_of(struct communicator **ret, int ranks, uint64_t key, int rank)
{
	struct communicator *c = calloc(1, sizeof(*c));
	char name[64];
	int file;

	if (ranks < 1 || ranks > RANKS_MAX || !c)
		return INVALID_ARGUMENT;
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
	c->key = key;
	pthread_mutex_init(&c->lock, NULL);
	*ret = c;
	if (!meet(c))
		return INTERNAL_ERROR;
	shm_unlink(name);
	return OK;
}

static int make(struct communicator **ret, int ranks, const struct unique_id *id, int rank)
{
	uint64_t key;

	memcpy(&key, id->bytes, sizeof(key));
	return make_of(ret, ranks, key, rank);
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

/* This rank's part of all ranks. */
static void exchange_parts(const struct communicator *c, char *to, size_t bytes)
{
	for (int rank = 0; rank < c->ranks; rank++)
		memcpy(to + (size_t)rank * bytes, slot_of(c, rank) + (size_t)c->rank * bytes,
		       bytes);
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

/* One kernel, which waits for others and then moves the bytes. Its memory stays: the bed's log has
 * its name. */
static int launch_after(int64_t wait_ns, const char *name, size_t bytes, void *stream)
{
	const char *price = getenv("SIM_NCCL_NS_PER_KIB");
	struct sim_kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return SYSTEM_ERROR;
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	kernel->ns = wait_ns + (int64_t)(bytes / 1024 + 1) * (price ? atol(price) : 100);
	return sim_library_launch(kernel, stream);
}

/* From this rank's begin to the end of all. */
static int launch(const struct communicator *c, const char *name, size_t bytes, void *stream)
{
	int64_t last = 0;

	for (int rank = 0; rank < c->ranks; rank++)
		last = c->meeting->begin_ns[rank] > last ? c->meeting->begin_ns[rank] : last;
	return launch_after(last - c->meeting->begin_ns[c->rank], name, bytes, stream);
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

int ncclReduce(const void *from, void *to, size_t count, int type, int operation, int root,
	       struct communicator *c, void *stream);
int ncclReduce(const void *from, void *to, size_t count, int type, int operation, int root,
	       struct communicator *c, void *stream)
{
	COLLECTIVE("Reduce", from, bytes_of(count, type), stream,
		   c->rank == root ? combine(c, to, 0, count, type, operation) : (void)0);
}

int ncclAlltoAll(const void *from, void *to, size_t count, int type, struct communicator *c,
		 void *stream);
int ncclAlltoAll(const void *from, void *to, size_t count, int type, struct communicator *c,
		 void *stream)
{
	size_t bytes = bytes_of(count, type);

	COLLECTIVE("AlltoAll", from, (size_t)c->ranks * bytes, stream,
		   exchange_parts(c, to, bytes));
}

/* Ranks of equal color become a communicator, ordered by key; a negative color gets none. */
int ncclCommSplit(struct communicator *c, int color, int key, struct communicator **ret,
		  void *config);
int ncclCommSplit(struct communicator *c, int color, int key, struct communicator **ret,
		  void *config)
{
	int ranks = 0, rank = 0, mine[2] = {color, key}, its[2];
	uint64_t name = (c->key + ++c->splits) * 0x9e3779b97f4a7c15u + (uint64_t)color;

	(void)config;
	*ret = NULL;
	memcpy(slot_of(c, c->rank), mine, sizeof(mine));
	if (!meet(c))
		return INTERNAL_ERROR;
	for (int other = 0; other < c->ranks; other++) {
		memcpy(its, slot_of(c, other), sizeof(its));
		if (its[0] != color)
			continue;
		ranks++;
		rank += its[1] < key || (its[1] == key && other < c->rank);
	}
	if (!meet(c))
		return INTERNAL_ERROR;
	return color < 0 ? OK : make_of(ret, ranks, name, rank);
}

/* Sends and receives of the group that the thread is in. */
struct message {
	char *memory;
	size_t bytes;
	struct communicator *c;
	int peer;
	void *stream;
	bool is_send, is_done;
};

static __thread struct message messages[MESSAGES_MAX];
static __thread uint32_t message_count, depth;

/* True where an earlier message takes the same way. */
static bool has_to_wait(const struct message *m)
{
	for (const struct message *e = messages; e < m; e++)
		if (!e->is_done && e->is_send == m->is_send && e->peer == m->peer && e->c == m->c)
			return true;
	return false;
}

/* Raises *last_ns to the sender's begin. */
static void try(struct message *m, int64_t *last_ns)
{
	int from = m->is_send ? m->c->rank : m->peer, to = m->is_send ? m->peer : m->c->rank;
	struct mail *mail = &m->c->meeting->mail[from][to];

	if (atomic_load(&mail->is_full) == m->is_send || has_to_wait(m))
		return;
	if (m->is_send) {
		memcpy(mail_of(m->c, from, to), m->memory, m->bytes);
		mail->begin_ns = begin_ns(m->stream);
	} else {
		memcpy(m->memory, mail_of(m->c, from, to), m->bytes);
		*last_ns = mail->begin_ns > *last_ns ? mail->begin_ns : *last_ns;
	}
	atomic_store(&mail->is_full, m->is_send);
	m->is_done = true;
}

static bool are_all_done(void)
{
	for (uint32_t i = 0; i < message_count; i++)
		if (!messages[i].is_done)
			return false;
	return true;
}

/* All are of one communicator and stream, as PyTorch's groups are. */
static int exchange(void)
{
	void *stream = messages[0].stream;
	int64_t own_ns = begin_ns(stream), last_ns = own_ns, give_up_ns = now_ns() + WAIT_MOST_NS;
	struct timespec pause = {0, 50000};
	size_t bytes = 0;

	for (uint32_t i = 0; i < message_count; i++)
		bytes += messages[i].bytes;
	while (!are_all_done()) {
		for (uint32_t i = 0; i < message_count; i++)
			if (!messages[i].is_done)
				try(&messages[i], &last_ns);
		if (now_ns() > give_up_ns)
			return INTERNAL_ERROR;
		nanosleep(&pause, NULL);
	}
	message_count = 0;
	return launch_after(last_ns - own_ns, "ncclDevKernel_SendRecv", bytes, stream);
}

int ncclGroupStart(void);
int ncclGroupStart(void)
{
	depth++;
	return OK;
}

int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
	if (!depth)
		return INVALID_ARGUMENT;
	return --depth || !message_count ? OK : exchange();
}

static int add(struct message message)
{
	if (message.bytes > MAIL_BYTES || message_count == MESSAGES_MAX)
		return INVALID_ARGUMENT;
	messages[message_count++] = message;
	return depth ? OK : exchange();
}

int ncclSend(void *from, size_t count, int type, int peer, struct communicator *c, void *stream);
int ncclSend(void *from, size_t count, int type, int peer, struct communicator *c, void *stream)
{
	CALLED("ncclSend");
	return add((struct message){from, bytes_of(count, type), c, peer, stream, true, false});
}

int ncclRecv(void *to, size_t count, int type, int peer, struct communicator *c, void *stream);
int ncclRecv(void *to, size_t count, int type, int peer, struct communicator *c, void *stream)
{
	CALLED("ncclRecv");
	return add((struct message){to, bytes_of(count, type), c, peer, stream, false, false});
}
