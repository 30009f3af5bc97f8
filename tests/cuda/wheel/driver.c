/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcuda.so.1 of the test bed: the driver's functions on the device of device.h. Prototypes are
 * those of NVIDIA's cuda.h. A name that cuGetProcAddress does not find gets a function that fails;
 * SIM_TELL says such names on stderr.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "count.h"
#include "device.h"
#include "fake_observer.h"

#define CONTEXT_OF(device) ((CUcontext)(uintptr_t)(0x1000 + (device)))

/* For calls that CUPTI knows. */
#define OBSERVED(name)                                                                             \
	struct fake_call observed                                                                  \
		__attribute__((cleanup(fakeCudaEnd))) = {FAKE_DRIVER, name, 0, 0};                 \
	fakeCudaBegin(&observed);                                                                  \
	CALLED(name)

#define STREAM(handle) sim_stream_of((void *)(handle))
#define EVENT(handle) ((struct sim_event *)(void *)(handle))
#define KERNEL(handle) ((struct sim_kernel *)(void *)(handle))

static int device_count(void)
{
	const char *count = getenv("SIM_DEVICES");

	return count && atoi(count) > 0 ? atoi(count) : 1;
}

static __thread int current_device;

CUresult cuInit(unsigned flags)
{
	CALLED("cuInit");
	return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *ret)
{
	*ret = CUDA_VERSION;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *ret)
{
	*ret = device_count();
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *ret, int ordinal)
{
	*ret = ordinal;
	return ordinal < 0 || ordinal >= device_count() ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *ret, CUdevice_attribute attribute, CUdevice device)
{
	(void)device;
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*ret = 9;
		break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*ret = 132;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*ret = 1024;
		break;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		*ret = 32;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
		*ret = 49152;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		*ret = 232448;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
		*ret = 2048;
		break;
	default:
		*ret = 0;
	}
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ret, CUdevice device)
{
	*ret = CONTEXT_OF(device);
	return device < 0 || device >= device_count() ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	(void)device;
	*flags = 0;
	*active = 1;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ret)
{
	*ret = CONTEXT_OF(current_device);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	if (context)
		current_device = (int)((uintptr_t)context - 0x1000);
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
	(void)context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *ret)
{
	*ret = CONTEXT_OF(current_device);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *ret)
{
	*ret = current_device;
	return CUDA_SUCCESS;
}

/* Triton raises the limit of what a kernel may print, and prefers caches. */
CUresult cuCtxGetLimit(size_t *ret, CUlimit limit)
{
	(void)limit;
	*ret = 1 << 20;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	(void)limit, (void)value;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config)
{
	(void)f, (void)config;
	return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	static __thread CUstreamCaptureMode now;
	CUstreamCaptureMode before = now;

	now = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	CALLED("cuCtxSynchronize");
	sim_streams_wait();
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			unsigned by, unsigned bz, unsigned shared, CUstream stream,
			void **arguments, void **extra)
{
	(void)bx, (void)by, (void)bz, (void)shared, (void)arguments, (void)extra;
	OBSERVED("cuLaunchKernel");
	if (!gx || !gy || !gz)
		return CUDA_ERROR_INVALID_VALUE;
	sim_kernel_put(STREAM(stream), KERNEL(f));
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **arguments,
			  void **extra)
{
	(void)arguments, (void)extra;
	OBSERVED("cuLaunchKernelEx");
	sim_kernel_put(STREAM(config->hStream), KERNEL(f));
	return CUDA_SUCCESS;
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
				   unsigned by, unsigned bz, unsigned shared, CUstream stream,
				   void **arguments)
{
	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)arguments;
	OBSERVED("cuLaunchCooperativeKernel");
	sim_kernel_put(STREAM(stream), KERNEL(f));
	return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
	CALLED("cuLaunchHostFunc");
	sim_stream_wait(STREAM(stream));
	function(data);
	return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *ret, unsigned flags, int priority)
{
	*ret = (CUstream)(void *)sim_stream_make(flags, priority);
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
	(void)stream; /* A few bytes stay, because events may follow it. */
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	CALLED("cuStreamSynchronize");
	sim_stream_wait(STREAM(stream));
	return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream)
{
	return sim_stream_is_idle(STREAM(stream)) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	(void)flags;
	CALLED("cuStreamWaitEvent");
	sim_event_follow(EVENT(event), STREAM(stream));
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	(void)mode;
	sim_capture_begin(STREAM(stream));
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *ret)
{
	*ret = (CUgraph)(void *)sim_capture_end(STREAM(stream));
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *ret)
{
	*ret = sim_capture_of(STREAM(stream)) ? CU_STREAM_CAPTURE_STATUS_ACTIVE
					      : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *ret, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	*ret = (CUgraphExec)(void *)graph;
	return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
	OBSERVED("cuGraphLaunch");
	sim_graph_put(STREAM(stream), (struct sim_graph *)(void *)graph);
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *ret, unsigned flags)
{
	(void)flags;
	*ret = (CUevent)(void *)sim_event_make();
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
	free(EVENT(event));
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	CALLED("cuEventRecord");
	sim_event_record(EVENT(event), STREAM(stream));
	return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event)
{
	CALLED("cuEventSynchronize");
	sim_event_wait(EVENT(event));
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event)
{
	return sim_event_is_done(EVENT(event)) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float *ret, CUevent from, CUevent to)
{
	int64_t begin = sim_event_ns(EVENT(from)), end = sim_event_ns(EVENT(to));

	if (begin < 0 || end < 0)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!sim_event_is_done(EVENT(to)))
		return CUDA_ERROR_NOT_READY;
	*ret = (float)(end - begin) / 1e6f;
	return CUDA_SUCCESS;
}

/* The driver exports the first form, too, which NVIDIA's header renames as of CUDA 13. */
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *ret, CUevent from, CUevent to)
{
	return cuEventElapsedTime_v2(ret, from, to);
}
#endif

CUresult cuMemAlloc(CUdeviceptr *ret, size_t bytes)
{
	CALLED("cuMemAlloc");
	sim_streams_wait();
	*ret = (CUdeviceptr)(uintptr_t)sim_memory_make(bytes, SIM_DEVICE);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr pointer)
{
	CALLED("cuMemFree");
	sim_streams_wait();
	sim_memory_drop((void *)(uintptr_t)pointer);
	return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *ret, size_t bytes, CUstream stream)
{
	(void)stream;
	CALLED("cuMemAllocAsync");
	*ret = (CUdeviceptr)(uintptr_t)sim_memory_make(bytes, SIM_DEVICE);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
	(void)stream;
	CALLED("cuMemFreeAsync");
	sim_memory_drop((void *)(uintptr_t)pointer);
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **ret, size_t bytes, unsigned flags)
{
	(void)flags;
	*ret = sim_memory_make(bytes, SIM_PINNED);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *pointer)
{
	sim_memory_drop(pointer);
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	sim_memory_add(pointer, bytes, SIM_PINNED);
	return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *pointer)
{
	sim_memory_drop(pointer);
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(size_t *ret_free, size_t *ret_total)
{
	sim_memory_info(ret_free, ret_total);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	OBSERVED("cuMemcpyAsync");
	sim_copy_put(STREAM(stream), (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes,
		     NULL);
	return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	OBSERVED("cuMemcpy");
	sim_copy_put(STREAM(NULL), (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes,
		     NULL);
	sim_stream_wait(STREAM(NULL));
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
	OBSERVED("cuMemsetD8Async");
	sim_set_put(STREAM(stream), (void *)(uintptr_t)to, value, count);
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *ret, CUpointer_attribute attribute, CUdeviceptr pointer)
{
	enum sim_memory kind = sim_memory_of((const void *)(uintptr_t)pointer);

	if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && kind != SIM_PAGEABLE)
		*(unsigned *)ret = kind == SIM_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	else if (attribute == CU_POINTER_ATTRIBUTE_CONTEXT && kind == SIM_DEVICE)
		*(CUcontext *)ret = CONTEXT_OF(current_device);
	else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER && kind != SIM_PAGEABLE)
		*(CUdeviceptr *)ret = pointer;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *ret, const void *image)
{
	(void)image;
	*ret = (CUmodule)0x2000;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule *ret, const char *path)
{
	return cuModuleLoadData(ret, path);
}

CUresult cuModuleLoadDataEx(CUmodule *ret, const void *image, unsigned n, CUjit_option *options,
			    void **values)
{
	(void)n, (void)options, (void)values;
	return cuModuleLoadData(ret, image);
}

CUresult cuModuleUnload(CUmodule module)
{
	(void)module;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *ret, CUmodule module, const char *name)
{
	struct sim_kernel *kernel = calloc(1, sizeof(*kernel));

	(void)module;
	if (!kernel)
		return CUDA_ERROR_OUT_OF_MEMORY;
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	*ret = (CUfunction)(void *)kernel;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *ret, CUfunction_attribute attribute, CUfunction f)
{
	(void)f;
	*ret = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value)
{
	(void)f, (void)attribute, (void)value;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, CUfunction f, int size,
						     size_t shared)
{
	(void)f, (void)size, (void)shared;
	*ret = 2;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **ret)
{
	*ret = error ? "an error of the test bed" : "no error";
	return CUDA_SUCCESS;
}

static CUresult unsupported(void)
{
	CALLED("unsupported");
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuGetProcAddress_v2(const char *name, void **ret, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	static const char *const forms[] = {"_v2", ""};
	static void *self;
	char form[256];

	(void)version, (void)flags;
	if (!self)
		self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	*ret = NULL;
	for (int i = 0; i < 2 && !*ret; i++) {
		snprintf(form, sizeof(form), "%s%s", name, forms[i]);
		*ret = dlsym(self, form);
	}
	if (!*ret && getenv("SIM_TELL"))
		fprintf(stderr, "test bed: the driver has no %s\n", name);
	if (!*ret)
		*ret = (void *)unsupported;
	if (status)
		*status = CU_GET_PROC_ADDRESS_SUCCESS;
	return CUDA_SUCCESS;
}
