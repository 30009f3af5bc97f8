/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of the CUDA device for tests: our own prototypes, no toolkit needed. The
 * libraries are named and versioned like the real ones. There is no device: a stream is a thread, a
 * kernel sleeps for as many nanoseconds as the uint64_t says that its first argument points to, a
 * copy is a memcpy that takes FAKE_COPY_NS_PER_KIB; one to pageable memory, or of more than 64 KiB
 * from there, takes twice that, and its caller waits. Device memory is host memory.
 *
 * Environment: FAKE_CUDA_DEVICES, 1 if unset: 0 makes every call fail as on a machine without a
 * device. FAKE_CUDA_MALLOC_WAITS: allocating waits for the device, as freeing always does.
 * FAKE_CUDA_MALLOC_NS: allocating takes so long by itself. FAKE_CUDA_COPY_NS_PER_KIB: a slower bus.
 * FAKE_CUDA_UNLOADS: the runtime closes the driver when it is unloaded, and that ends its streams
 * when their work is done. FAKE_CUDA_STRICT: calls that CUDA forbids while another thread captures
 * end that capture in an error.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_DEVICES_MAX 4
#define FAKE_COPY_NS_PER_KIB 100u /* 10 GB/s */

/* As in CUDA: both layers number their errors alike from 100 on. */
enum {
	FAKE_OK = 0,
	FAKE_INVALID = 1,
	FAKE_NOT_INITIALIZED = 3, /* also in a child that was forked after the device was used */
	FAKE_INVALID_CONFIGURATION = 9, /* runtime only: a grid of no blocks */
	FAKE_INSUFFICIENT_DRIVER = 35,	/* runtime only: no libcuda.so.1 */
	FAKE_NO_DEVICE = 100,
	FAKE_INVALID_DEVICE = 101,
	FAKE_INVALID_HANDLE = 400,
	FAKE_CAPTURE_INVALIDATED = 901,
	FAKE_CAPTURE_UNSAFE = 900,
	FAKE_NOT_READY = 600,
	FAKE_NOT_FOUND = 500,
};

enum { FAKE_H2H, FAKE_H2D, FAKE_D2H, FAKE_D2D, FAKE_DEFAULT };

struct fake_dim3 {
	unsigned x, y, z;
};
struct fake_launch {
	struct fake_dim3 grid, block;
	size_t shared_bytes;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};
struct fake_driver_launch {
	unsigned grid[3], block[3], shared_bytes;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};
struct fake_pitched {
	void *pointer;
	size_t pitch, width, height;
};
struct fake_extent {
	size_t width, height, depth;
};
struct fake_copy_3d {
	void *source_array;
	size_t source_position[3];
	struct fake_pitched source;
	void *target_array;
	size_t target_position[3];
	struct fake_pitched target;
	struct fake_extent extent;
	int kind;
};

/* cudaMemcpy3DBatchOp */
struct fake_copy_3d_of_13 {
	uint64_t source[5], target[5];
	struct fake_extent extent;
	int order;
	unsigned flags;
};

/* FAKE_RUNTIME_VERSION comes with the runtime that is linked. */
#if defined(FAKE_RUNTIME_VERSION) && FAKE_RUNTIME_VERSION < 12000
#define FAKE_IS_CUDA_11 1
#else
#define FAKE_IS_CUDA_11 0
#endif

/* The runtime, libcudart.so.11.0, .12 and .13. TWIN: the forms of per-thread default streams. */
#define FAKE_TWIN(name, suffix, ...)                                                               \
	int name(__VA_ARGS__);                                                                     \
	int name##suffix(__VA_ARGS__)
FAKE_TWIN(cudaLaunchKernel, _ptsz, const void *kernel, struct fake_dim3 grid,
	  struct fake_dim3 block, void **arguments, size_t shared_bytes, void *stream);
FAKE_TWIN(__cudaLaunchKernel, _ptsz, void *kernel, struct fake_dim3 grid, struct fake_dim3 block,
	  void **arguments, size_t shared_bytes, void *stream); /* not in 11 */
FAKE_TWIN(cudaLaunchCooperativeKernel, _ptsz, const void *kernel, struct fake_dim3 grid,
	  struct fake_dim3 block, void **arguments, size_t shared_bytes, void *stream);
FAKE_TWIN(cudaLaunchKernelExC, _ptsz, const struct fake_launch *launch, const void *kernel,
	  void **arguments); /* not in 11.7 */
FAKE_TWIN(cudaLaunchHostFunc, _ptsz, void *stream, void (*function)(void *), void *data);
FAKE_TWIN(cudaStreamAddCallback, _ptsz, void *stream, void (*function)(void *, int, void *),
	  void *data, unsigned flags);
FAKE_TWIN(cudaSignalExternalSemaphoresAsync, _ptsz, const void *semaphores, const void *what,
	  unsigned count, void *stream);
FAKE_TWIN(cudaWaitExternalSemaphoresAsync, _ptsz, const void *semaphores, const void *what,
	  unsigned count, void *stream);
FAKE_TWIN(cudaStreamAttachMemAsync, _ptsz, void *stream, void *address, size_t bytes,
	  unsigned flags);
FAKE_TWIN(cudaGraphUpload, _ptsz, void *graph, void *stream);
FAKE_TWIN(cudaMemcpyWithAttributesAsync, _ptsz, void *to, const void *from, size_t bytes,
	  void *attributes, void *stream);
FAKE_TWIN(cudaMemcpy3DWithAttributesAsync, _ptsz, const struct fake_copy_3d_of_13 *copy,
	  unsigned long long flags, void *stream);
FAKE_TWIN(cudaGraphInstantiateWithParams, _ptsz, void **instance, void *graph, void *how);
int cudaGraphInstantiateWithFlags(void **instance, void *graph, unsigned long long flags);
int cudaGraphExecUpdate(void *instance, void *graph, void *result);
int cudaExecutionCtxRecordEvent(void *context, void *event);
int cudaExecutionCtxWaitEvent(void *context, void *event);
int cudaExecutionCtxSynchronize(void *context);
int cudaExecutionCtxDestroy(void *context);
int cudaMemPoolTrimTo(void *pool, size_t kept_bytes);
FAKE_TWIN(cudaGraphLaunch, _ptsz, void *graph, void *stream);
FAKE_TWIN(cudaStreamBeginCapture, _ptsz, void *stream, int mode);
FAKE_TWIN(cudaStreamEndCapture, _ptsz, void *stream, void **graph);
#if FAKE_IS_CUDA_11
int cudaGraphInstantiate(void **instance, void *graph, void **node, char *log, size_t log_bytes);
#else
int cudaGraphInstantiate(void **instance, void *graph, unsigned long long flags);
#endif
FAKE_TWIN(cudaMemcpy, _ptds, void *to, const void *from, size_t bytes, int kind);
FAKE_TWIN(cudaMemcpyAsync, _ptsz, void *to, const void *from, size_t bytes, int kind, void *stream);
FAKE_TWIN(cudaMemcpy2D, _ptds, void *to, size_t to_pitch, const void *from, size_t from_pitch,
	  size_t width, size_t height, int kind);
FAKE_TWIN(cudaMemcpy2DAsync, _ptsz, void *to, size_t to_pitch, const void *from, size_t from_pitch,
	  size_t width, size_t height, int kind, void *stream);
FAKE_TWIN(cudaMemcpy3D, _ptds, const struct fake_copy_3d *copy);
FAKE_TWIN(cudaMemcpy3DAsync, _ptsz, const struct fake_copy_3d *copy, void *stream);
int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
			void *stream);
FAKE_TWIN(cudaMemset, _ptds, void *to, int value, size_t bytes);
FAKE_TWIN(cudaMemsetAsync, _ptsz, void *to, int value, size_t bytes, void *stream);
FAKE_TWIN(cudaStreamSynchronize, _ptsz, void *stream);
FAKE_TWIN(cudaStreamQuery, _ptsz, void *stream);
FAKE_TWIN(cudaStreamWaitEvent, _ptsz, void *stream, void *event, unsigned flags);
FAKE_TWIN(cudaEventRecord, _ptsz, void *event, void *stream);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaEventCreate(void **event);
int cudaEventDestroy(void *event);
int cudaEventSynchronize(void *event);
int cudaEventQuery(void *event);
int cudaEventElapsedTime(float *ms, void *from, void *to);
int cudaStreamCreate(void **stream);
int cudaStreamDestroy(void *stream);
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
FAKE_TWIN(cudaMallocAsync, _ptsz, void **pointer, size_t bytes, void *stream);
FAKE_TWIN(cudaFreeAsync, _ptsz, void *pointer, void *stream);
FAKE_TWIN(cudaMallocFromPoolAsync, _ptsz, void **pointer, size_t bytes, void *pool, void *stream);
int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cudaMallocHost(void **pointer, size_t bytes);
int cudaFreeHost(void *pointer);
int cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
int cudaHostUnregister(void *pointer);
int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaGetDevice(int *device);
/* These look in a table of the driver's, and not by cuGetProcAddress. */
#if FAKE_IS_CUDA_11
FAKE_TWIN(cudaGetDriverEntryPoint, _ptsz, const char *symbol, void **function,
	  unsigned long long flags);
#else
FAKE_TWIN(cudaGetDriverEntryPoint, _ptsz, const char *symbol, void **function,
	  unsigned long long flags, int *status);
#endif
FAKE_TWIN(cudaGetDriverEntryPointByVersion, _ptsz, const char *symbol, void **function,
	  unsigned version, unsigned long long flags, int *status);

/* Not in CUDA: called by every kernel launch once the driver has returned; it need not return
 * itself. */
void cudaFakeOnLaunch(void (*function)(void));

/* Nor this: how often this very runtime has launched a kernel by cudaLaunchKernel. */
long cudaFakeLaunches(void);

/* The driver, libcuda.so.1. */
int cuInit(unsigned flags);

/* Not in CUDA either: what was done with streams, events and contexts that had ended, and nodes of
 * a graph. */
long cuFakeViolations(void);
long cuFakeGraphNodes(void *graph);
/* Nor these: how long the calling thread has waited for streams, by the driver's own clock, and
 * when its last kernel came upon a stream. */
uint64_t cuFakeWaitedNs(void);
uint64_t cuFakePutNs(void);
uint64_t cudaFakeWaitedNs(void); /* the same, of the runtime's driver; 0 before its first call */
/* cuGetProcAddress_v2 by a name that nobody hooks: for the runtime, as if it had a table of its
 * own. */
int fakeCudaFind(const char *symbol, void **function, int version, uint64_t flags, int *status);
int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
			int *status);
int cuMemcpyBatchAsync(const uint64_t *to, const uint64_t *from, const size_t *sizes, size_t count,
		       void *attributes, size_t *indices, size_t attribute_count, size_t *failed,
		       void *stream);
int cuMemcpyBatchAsync_v2(const uint64_t *to, const uint64_t *from, const size_t *sizes,
			  size_t count, void *attributes, size_t *indices, size_t attribute_count,
			  void *stream);
int cuLaunchHostFunc_v2(void *stream, void (*function)(void *), void *data, unsigned mode);
int cuLaunchHostFunc_v2_ptsz(void *stream, void (*function)(void *), void *data, unsigned mode);
int cuGetExportTable(const void **table, const void *id);

/* The mode of the last cuLaunchHostFunc that had one; not in CUDA. */
unsigned cuFakeHostMode(void);

/* The version of a CUDA that there is not, in which cuStreamQuery has eight parameters: the last is
 * given the sum of those after the stream. */
#define FAKE_LATER 99000
#define FAKE_PER_THREAD 2u /* cuGetProcAddress: the forms of per-thread default streams */

/* libnccl.so.2 */
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
		  void *stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
		  void *stream);
int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream);
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, void *comm,
		      void *stream);
int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream);
int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream);
int ncclPutSignal(const void *from, size_t count, int type, int peer, void *window, size_t offset,
		  int signal, int context, unsigned flags, void *comm, void *stream);
int ncclSignal(int peer, int signal, int context, unsigned flags, void *comm, void *stream);
int ncclWaitSignal(int count, void *signals, void *comm, void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduceConfig(const void *from, void *to, size_t count, int type, int op, void *comm,
			void *stream, const void *config);

/* Communicators whose ranks wait for each other; FAKE_NCCL_FOLDER: where they meet. An id is its
 * first word. */
#define FAKE_NCCL_RANKS_MAX 16
struct fake_nccl_id {
	uint64_t words[16];
};
int ncclCommInitRank(void **comm, int ranks, struct fake_nccl_id id, int rank);
int ncclCommInitRankConfig(void **comm, int ranks, struct fake_nccl_id id, int rank, void *config);
int ncclCommInitRankScalable(void **comm, int ranks, int rank, int id_count,
			     struct fake_nccl_id *ids, void *config);
int ncclCommInitAll(void **comms, int count, const int *devices);
int ncclCommSplit(void *comm, int colour, int key, void **ret, void *config);
int ncclCommShrink(void *comm, int *excluded, int excluded_count, void **ret, void *config,
		   int flags);
int ncclCommGrow(void *comm, int ranks, const struct fake_nccl_id *id, int rank, void **ret,
		 void *config);
int ncclCommFinalize(void *comm);
int ncclCommDestroy(void *comm);
int ncclCommAbort(void *comm);

/* Not in NCCL: work that this very copy was given. */
long ncclFakeCalls(void);

#endif
