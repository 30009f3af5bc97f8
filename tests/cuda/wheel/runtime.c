/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcudart of the test bed. Like the real one it is linked to nothing: it opens libcuda.so.1
 * and asks cuGetProcAddress for all that it calls. Prototypes are those of NVIDIA's headers.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "count.h"
#include "device.h"
#include "fake_observer.h"

#define KERNELS_MAX (1u << 20) /* a power of two; PyTorch registers some 100,000 */

/* The functions of the driver that the runtime calls. */
#define DRIVER(X)                                                                                  \
	X(cuInit)                                                                                  \
	X(cuLaunchKernel)                                                                          \
	X(cuLaunchKernelEx)                                                                        \
	X(cuLaunchCooperativeKernel)                                                               \
	X(cuLaunchHostFunc)                                                                        \
	X(cuStreamCreateWithPriority)                                                              \
	X(cuStreamDestroy)                                                                         \
	X(cuStreamSynchronize)                                                                     \
	X(cuStreamQuery)                                                                           \
	X(cuStreamWaitEvent)                                                                       \
	X(cuStreamBeginCapture)                                                                    \
	X(cuStreamEndCapture)                                                                      \
	X(cuStreamIsCapturing)                                                                     \
	X(cuGraphInstantiateWithFlags)                                                             \
	X(cuGraphLaunch)                                                                           \
	X(cuEventCreate)                                                                           \
	X(cuEventDestroy)                                                                          \
	X(cuEventRecord)                                                                           \
	X(cuEventSynchronize)                                                                      \
	X(cuEventQuery)                                                                            \
	X(cuEventElapsedTime)                                                                      \
	X(cuCtxSynchronize)                                                                        \
	X(cuDeviceGetCount)                                                                        \
	X(cuCtxGetDevice)                                                                          \
	X(cuCtxSetCurrent)                                                                         \
	X(cuDevicePrimaryCtxRetain)                                                                \
	X(cuMemAlloc)                                                                              \
	X(cuMemFree)                                                                               \
	X(cuMemAllocAsync)                                                                         \
	X(cuMemFreeAsync)                                                                          \
	X(cuMemHostAlloc)                                                                          \
	X(cuMemFreeHost)                                                                           \
	X(cuMemHostRegister)                                                                       \
	X(cuMemHostUnregister)                                                                     \
	X(cuMemGetInfo)                                                                            \
	X(cuMemcpyAsync)                                                                           \
	X(cuMemcpy)                                                                                \
	X(cuMemsetD8Async)                                                                         \
	X(cuPointerGetAttribute)

#define POINTER(name) __typeof__(&name) name;
static struct {
	DRIVER(POINTER)
	__typeof__(&cuGetProcAddress_v2) find;
	/* The bed's own: the real driver has further calls for them. */
	__typeof__(&sim_stream_of) stream_of;
	__typeof__(&sim_stream_priority) priority_of;
	__typeof__(&sim_capture_of) capture_of;
	__typeof__(&fakeCudaBegin) observed_begin;
	__typeof__(&fakeCudaEnd) observed_end;
} driver;
#undef POINTER

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread cudaError_t last_error;

static void begin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	driver.find =
		library ? (__typeof__(driver.find))dlsym(library, "cuGetProcAddress_v2") : NULL;
	if (!driver.find) {
		fprintf(stderr, "test bed: no libcuda.so.1\n");
		abort();
	}
#define FIND(name) driver.find(#name, (void **)&driver.name, CUDART_VERSION, 0, NULL);
	DRIVER(FIND)
#undef FIND
	driver.stream_of = (__typeof__(driver.stream_of))dlsym(library, "sim_stream_of");
	driver.priority_of = (__typeof__(driver.priority_of))dlsym(library, "sim_stream_priority");
	driver.capture_of = (__typeof__(driver.capture_of))dlsym(library, "sim_capture_of");
	driver.observed_begin = (__typeof__(driver.observed_begin))dlsym(library, "fakeCudaBegin");
	driver.observed_end = (__typeof__(driver.observed_end))dlsym(library, "fakeCudaEnd");
	driver.cuInit(0);
}

static cudaError_t ended(CUresult error)
{
	if (error)
		last_error = (cudaError_t)error;
	return (cudaError_t)error;
}

#define CALL(function, ...) (pthread_once(&once, begin), ended(driver.function(__VA_ARGS__)))
static void observed_begin(struct fake_call *call)
{
	pthread_once(&once, begin);
	driver.observed_begin(call);
}

static void observed_end(struct fake_call *call)
{
	driver.observed_end(call);
}

/* For calls that CUPTI knows. */
#define OBSERVED(name)                                                                             \
	struct fake_call observed                                                                  \
		__attribute__((cleanup(observed_end))) = {FAKE_RUNTIME, name, 0, 0};               \
	observed_begin(&observed);                                                                 \
	CALLED(name)

#define ADDRESS(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

/* Kernels by the address of the host's function: an open table, without removal. */
static struct {
	const void *host;
	struct sim_kernel *kernel;
} kernels[KERNELS_MAX];

static uint32_t place_of(const void *host)
{
	uint32_t i = (uint32_t)(((uintptr_t)host >> 4) * 2654435761u) & (KERNELS_MAX - 1);

	while (kernels[i].host && kernels[i].host != host)
		i = (i + 1) & (KERNELS_MAX - 1);
	return i;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *size);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *size)
{
	uint32_t i = place_of(host);
	struct sim_kernel *kernel = calloc(1, sizeof(*kernel));

	(void)handle, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid,
		(void)size;
	if (!kernel)
		abort();
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	kernels[i].host = host;
	kernels[i].kernel = kernel;
}

static CUfunction kernel_of(const void *host)
{
	static struct sim_kernel unknown = {"unknown", 0};
	struct sim_kernel *kernel = kernels[place_of(host)].kernel;

	return (CUfunction)(void *)(kernel ? kernel : &unknown);
}

void **__cudaRegisterFatBinary(void *binary);
void **__cudaRegisterFatBinary(void *binary)
{
	static void *handle;

	(void)binary;
	return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle);
void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
		       size_t size, int constant, int global);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
		       size_t size, int constant, int global)
{
	(void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant,
		(void)global;
}

char __cudaInitModule(void **handle);
char __cudaInitModule(void **handle)
{
	(void)handle;
	return 0;
}

/* The configuration of <<<>>>, between its push and its pop. */
static __thread struct {
	dim3 grid, block;
	size_t shared;
	void *stream;
} configuration;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
	configuration.grid = grid;
	configuration.block = block;
	configuration.shared = shared;
	configuration.stream = stream;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void **stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void **stream)
{
	*grid = configuration.grid;
	*block = configuration.block;
	*shared = configuration.shared;
	*stream = configuration.stream;
	return cudaSuccess;
}

/* The real one gives the kernel of this entry; here both are the host's function. */
cudaError_t __cudaGetKernel(cudaKernel_t *ret, const void *host);
cudaError_t __cudaGetKernel(cudaKernel_t *ret, const void *host)
{
	*ret = (cudaKernel_t)(void *)(uintptr_t)host;
	return cudaSuccess;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, size_t shared,
			  cudaStream_t stream, void **arguments)
{
	if (!grid.x || !grid.y || !grid.z)
		return last_error = cudaErrorInvalidConfiguration;
	return CALL(cuLaunchKernel, kernel_of(function), grid.x, grid.y, grid.z, block.x, block.y,
		    block.z, (unsigned)shared, stream, arguments, NULL);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
			     size_t shared, cudaStream_t stream)
{
	OBSERVED("cudaLaunchKernel");
	return launch(function, grid, block, shared, stream, arguments);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t shared, cudaStream_t stream)
{
	OBSERVED("__cudaLaunchKernel");
	return launch((const void *)kernel, grid, block, shared, stream, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
					void **arguments, size_t shared, cudaStream_t stream)
{
	OBSERVED("cudaLaunchCooperativeKernel");
	return CALL(cuLaunchCooperativeKernel, kernel_of(function), grid.x, grid.y, grid.z, block.x,
		    block.y, block.z, (unsigned)shared, stream, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
				void **arguments)
{
	CUlaunchConfig its = {.gridDimX = config->gridDim.x,
			      .gridDimY = config->gridDim.y,
			      .gridDimZ = config->gridDim.z,
			      .hStream = config->stream};

	OBSERVED("cudaLaunchKernelExC");
	return CALL(cuLaunchKernelEx, &its, kernel_of(function), arguments, NULL);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	CALLED("cudaLaunchHostFunc");
	return CALL(cuLaunchHostFunc, stream, function, data);
}

cudaError_t cudaGetDeviceCount(int *ret)
{
	return CALL(cuDeviceGetCount, ret);
}

cudaError_t cudaGetDevice(int *ret)
{
	return CALL(cuCtxGetDevice, ret);
}

cudaError_t cudaSetDevice(int device)
{
	CUcontext context;

	if (CALL(cuDevicePrimaryCtxRetain, &context, device))
		return last_error = cudaErrorInvalidDevice;
	return CALL(cuCtxSetCurrent, context);
}

cudaError_t cudaDeviceGetAttribute(int *ret, enum cudaDeviceAttr attribute, int device)
{
	(void)device;
	*ret = attribute == cudaDevAttrMultiProcessorCount	      ? 132
	       : attribute == cudaDevAttrMaxThreadsPerBlock	      ? 1024
	       : attribute == cudaDevAttrMaxSharedMemoryPerBlock      ? 49152
	       : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 232448
	       : attribute == cudaDevAttrComputeCapabilityMajor	      ? 9
	       : attribute == cudaDevAttrMaxGridDimX		      ? INT32_MAX
	       : attribute == cudaDevAttrWarpSize		      ? 32
								      : 0;
	return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *ret, int device)
{
	int count;

	if (CALL(cuDeviceGetCount, &count) || device >= count)
		return last_error = cudaErrorInvalidDevice;
	*ret = (struct cudaDeviceProp){
		.name = "Device that is not there",
		.totalGlobalMem = (size_t)16 << 30,
		.sharedMemPerBlock = 49152,
		.regsPerBlock = 65536,
		.warpSize = 32,
		.maxThreadsPerBlock = 1024,
		.maxThreadsDim = {1024, 1024, 64},
		.maxGridSize = {INT32_MAX, 65535, 65535},
		.major = 9,
		.multiProcessorCount = 132,
		.memoryBusWidth = 5120,
		.l2CacheSize = 50 << 20,
		.maxThreadsPerMultiProcessor = 2048,
		.sharedMemPerMultiprocessor = 233472,
		.regsPerMultiprocessor = 65536,
		.sharedMemPerBlockOptin = 232448,
		.unifiedAddressing = 1,
		.concurrentKernels = 1,
	};
	return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *ret, int bytes, int device)
{
	snprintf(ret, (size_t)bytes, "0000:%02x:00.0", (unsigned)device);
	return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest)
{
	*ret_least = 0;
	*ret_greatest = -5;
	return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *ret, int device, int peer)
{
	(void)device, (void)peer;
	*ret = 0;
	return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
	OBSERVED("cudaDeviceSynchronize");
	return CALL(cuCtxSynchronize);
}

cudaError_t cudaDriverGetVersion(int *ret)
{
	*ret = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *ret)
{
	*ret = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **ret, unsigned version,
					     unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status)
{
	pthread_once(&once, begin);
	driver.find(symbol, ret, (int)version, flags, NULL);
	if (status)
		*status = cudaDriverEntryPointSuccess;
	return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

const char *cudaGetErrorString(cudaError_t error)
{
	return error ? "an error of the test bed" : "no error";
}

const char *cudaGetErrorName(cudaError_t error)
{
	return error ? "cudaErrorOfTheTestBed" : "cudaSuccess";
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *ret, const void *function)
{
	(void)function;
	*ret = (struct cudaFuncAttributes){.maxThreadsPerBlock = 1024,
					   .numRegs = 32,
					   .ptxVersion = 90,
					   .binaryVersion = 90};
	return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	(void)function, (void)attribute, (void)value;
	return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, const void *function, int size,
							  size_t shared)
{
	(void)function, (void)size, (void)shared;
	*ret = 2;
	return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ret, const void *function,
								   int size, size_t shared,
								   unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(ret, function, size, shared);
}

cudaError_t cudaProfilerStart(void)
{
	return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
	return cudaSuccess;
}

/* Streams, events, graphs. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *ret, unsigned flags, int priority)
{
	return CALL(cuStreamCreateWithPriority, ret, flags, priority);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *ret, unsigned flags)
{
	return CALL(cuStreamCreateWithPriority, ret, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *ret)
{
	return CALL(cuStreamCreateWithPriority, ret, 0, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	return CALL(cuStreamDestroy, stream);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *ret)
{
	pthread_once(&once, begin);
	*ret = driver.priority_of(driver.stream_of(stream));
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	OBSERVED("cudaStreamSynchronize");
	return CALL(cuStreamSynchronize, stream);
}

/* Not ready is an answer, not an error that stays. */
static cudaError_t answered(CUresult result)
{
	return (cudaError_t)result;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	CALLED("cudaStreamQuery");
	pthread_once(&once, begin);
	return answered(driver.cuStreamQuery(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	CALLED("cudaStreamWaitEvent");
	return CALL(cuStreamWaitEvent, stream, event, flags);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	return CALL(cuStreamBeginCapture, stream, (CUstreamCaptureMode)mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *ret)
{
	return CALL(cuStreamEndCapture, stream, ret);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *ret)
{
	CUstreamCaptureStatus status;
	cudaError_t error = CALL(cuStreamIsCapturing, stream, &status);

	*ret = (enum cudaStreamCaptureStatus)status;
	return error;
}

/* CUDA 12's second form has no edges. */
#if CUDART_VERSION < 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *ret,
				     unsigned long long *id, cudaGraph_t *graph,
				     const cudaGraphNode_t **dependencies, size_t *count)
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *ret,
				     unsigned long long *id, cudaGraph_t *graph,
				     const cudaGraphNode_t **dependencies,
				     const cudaGraphEdgeData **edges, size_t *count)
#endif
{
	struct sim_graph *captured;

	pthread_once(&once, begin);
	captured = driver.capture_of(driver.stream_of(stream));
	*ret = captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
	if (id)
		*id = (unsigned long long)(uintptr_t)captured;
	if (graph)
		*graph = (cudaGraph_t)(void *)captured;
	if (dependencies)
		*dependencies = NULL;
#if CUDART_VERSION >= 13000
	if (edges)
		*edges = NULL;
#endif
	if (count)
		*count = 0;
	return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	static __thread enum cudaStreamCaptureMode now;
	enum cudaStreamCaptureMode before = now;

	now = *mode;
	*mode = before;
	return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *ret, cudaGraph_t graph,
					  unsigned long long flags)
{
	return CALL(cuGraphInstantiateWithFlags, ret, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
	OBSERVED("cudaGraphLaunch");
	return CALL(cuGraphLaunch, graph, stream);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *ret)
{
	(void)graph, (void)nodes;
	*ret = 1;
	return cudaSuccess;
}

/* A graph's few bytes stay, because its instance is the same. */
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	(void)graph;
	return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
	(void)graph;
	return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *ret, unsigned flags)
{
	return CALL(cuEventCreate, ret, flags);
}

cudaError_t cudaEventCreate(cudaEvent_t *ret)
{
	return CALL(cuEventCreate, ret, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	return CALL(cuEventDestroy, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	CALLED("cudaEventRecord");
	return CALL(cuEventRecord, event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	(void)flags;
	CALLED("cudaEventRecordWithFlags");
	return CALL(cuEventRecord, event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	OBSERVED("cudaEventSynchronize");
	return CALL(cuEventSynchronize, event);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	CALLED("cudaEventQuery");
	pthread_once(&once, begin);
	return answered(driver.cuEventQuery(event));
}

cudaError_t cudaEventElapsedTime(float *ret, cudaEvent_t from, cudaEvent_t to)
{
	return CALL(cuEventElapsedTime, ret, from, to);
}

/* Memory. */
cudaError_t cudaMalloc(void **ret, size_t bytes)
{
	CUdeviceptr pointer = 0;
	cudaError_t error;

	CALLED("cudaMalloc");
	error = CALL(cuMemAlloc, &pointer, bytes);
	*ret = (void *)(uintptr_t)pointer;
	return error;
}

cudaError_t cudaFree(void *pointer)
{
	CALLED("cudaFree");
	return pointer ? CALL(cuMemFree, ADDRESS(pointer)) : cudaSuccess;
}

cudaError_t cudaMallocAsync(void **ret, size_t bytes, cudaStream_t stream)
{
	CUdeviceptr pointer = 0;
	cudaError_t error;

	CALLED("cudaMallocAsync");
	error = CALL(cuMemAllocAsync, &pointer, bytes, stream);
	*ret = (void *)(uintptr_t)pointer;
	return error;
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	CALLED("cudaFreeAsync");
	return CALL(cuMemFreeAsync, ADDRESS(pointer), stream);
}

cudaError_t cudaHostAlloc(void **ret, size_t bytes, unsigned flags)
{
	CALLED("cudaHostAlloc");
	return CALL(cuMemHostAlloc, ret, bytes, flags);
}

cudaError_t cudaFreeHost(void *pointer)
{
	CALLED("cudaFreeHost");
	return CALL(cuMemFreeHost, pointer);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
	return CALL(cuMemHostRegister, pointer, bytes, flags);
}

cudaError_t cudaHostUnregister(void *pointer)
{
	return CALL(cuMemHostUnregister, pointer);
}

cudaError_t cudaMemGetInfo(size_t *ret_free, size_t *ret_total)
{
	return CALL(cuMemGetInfo, ret_free, ret_total);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *ret, const void *pointer)
{
	unsigned type = 0;

	pthread_once(&once, begin);
	*ret = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered};
	if (driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ADDRESS(pointer)))
		return cudaSuccess;
	ret->type = type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
	ret->devicePointer = ret->hostPointer = (void *)(uintptr_t)pointer;
	return CALL(cuCtxGetDevice, &ret->device);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	(void)kind;
	OBSERVED("cudaMemcpy");
	return CALL(cuMemcpy, ADDRESS(to), ADDRESS(from), bytes);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	(void)kind;
	OBSERVED("cudaMemcpyAsync");
	return CALL(cuMemcpyAsync, ADDRESS(to), ADDRESS(from), bytes, stream);
}

cudaError_t cudaMemset(void *to, int value, size_t count)
{
	OBSERVED("cudaMemset");
	return CALL(cuMemsetD8Async, ADDRESS(to), (unsigned char)value, count, NULL);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t count, cudaStream_t stream)
{
	OBSERVED("cudaMemsetAsync");
	return CALL(cuMemsetD8Async, ADDRESS(to), (unsigned char)value, count, stream);
}
