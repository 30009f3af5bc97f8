/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcudart.so.11.0, .12 and .13. Like the real one it is linked to nothing: it opens libcuda.so.1,
 * asks dlsym for cuGetProcAddress, of the ABI that its version knows, and that for everything else.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_driver.h"
#include "fake_observer.h"

#define POINTER(name, exported, per_thread, parameters) int(*name) parameters;
#define PAIR(name, exported, per_thread, parameters) int(*name[2]) parameters;
static struct {
	FAKE_STREAM_DRIVER(PAIR)
	FAKE_PLAIN_DRIVER(POINTER)
	int (*find)(const char *symbol, void **function, int version, uint64_t flags, int *status);
	int (*find_v1)(const char *symbol, void **function, int version, uint64_t flags);
	int (*find_in_table)(const char *symbol, void **function, int version, uint64_t flags,
			     int *status);
	void (*observed_begin)(struct fake_call *);
	void (*observed_end)(struct fake_call *);
	uint64_t (*waited_ns)(void);
	int begun; /* what every call returns instead of doing anything */
} driver;

static void *find(const char *name, uint64_t flags)
{
	void *function = NULL;
	int status;

	if (driver.find)
		driver.find(name, &function, FAKE_RUNTIME_VERSION, flags, &status);
	else
		driver.find_v1(name, &function, FAKE_RUNTIME_VERSION, flags);
	return function;
}

static void find_all(void)
{
#define FIND(name, exported, per_thread, parameters)                                               \
	driver.name = (int(*) parameters)find(#name, 0);
#define FIND_PAIR(name, exported, per_thread, parameters)                                          \
	driver.name[0] = (int(*) parameters)find(#name, 0);                                        \
	driver.name[1] = (int(*) parameters)find(#name, FAKE_PER_THREAD);
	FAKE_STREAM_DRIVER(FIND_PAIR)
	FAKE_PLAIN_DRIVER(FIND)
}

static void *library;

static void begin_once(void)
{
	library = dlopen("libcuda.so.1", RTLD_NOW);
	driver.begun = FAKE_INSUFFICIENT_DRIVER;
	if (!library)
		return;
	if (!FAKE_IS_CUDA_11)
		driver.find = (int (*)(const char *, void **, int, uint64_t, int *))dlsym(library,
											  "cuGetPro"
											  "cAddress"
											  "_v2");
	driver.find_v1 = (int (*)(const char *, void **, int, uint64_t))dlsym(library, "cuGetProcAd"
										       "dress");
	driver.find_in_table = (__typeof__(driver.find_in_table))dlsym(library, "fakeCudaFind");
	driver.observed_begin = (void (*)(struct fake_call *))dlsym(library, "fakeCudaBegin");
	driver.observed_end = (void (*)(struct fake_call *))dlsym(library, "fakeCudaEnd");
	driver.waited_ns = (uint64_t(*)(void))dlsym(library, "cuFakeWaitedNs");
	if (!driver.find && !driver.find_v1)
		return;
	find_all();
	driver.begun = driver.cuInit(0);
}

__attribute__((destructor)) static void unload(void)
{
	if (library && getenv("FAKE_CUDA_UNLOADS"))
		dlclose(library);
}

static __thread int device;

/* As the real one does, it makes the primary context of the thread's device current. */
static int begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	void *context;

	pthread_once(&once, begin_once);
	if (!driver.begun && driver.cuCtxGetCurrent(&context) == FAKE_OK && !context &&
	    driver.cuDevicePrimaryCtxRetain(&context, device) == FAKE_OK)
		driver.cuCtxSetCurrent(context);
	return driver.begun;
}

#define RETURN_IF_NOT_BEGUN()                                                                      \
	do {                                                                                       \
		int begun = begin();                                                               \
		if (begun)                                                                         \
			return begun;                                                              \
	} while (0)

static void observed_end(struct fake_call *call)
{
	driver.observed_end(call);
}

#define OBSERVED(name)                                                                             \
	struct fake_call observed                                                                  \
		__attribute__((cleanup(observed_end))) = {FAKE_RUNTIME, name, 0, 0};               \
	driver.observed_begin(&observed)

/* NAME and its form for per-thread default streams; `form` is 1 in the second. */
#define FORMS(name, suffix, parameters, call)                                                      \
	int name parameters                                                                        \
	{                                                                                          \
		enum { form = 0 };                                                                 \
		RETURN_IF_NOT_BEGUN();                                                             \
		OBSERVED(#name);                                                                   \
		return call;                                                                       \
	}                                                                                          \
	int name##suffix parameters                                                                \
	{                                                                                          \
		enum { form = 1 };                                                                 \
		RETURN_IF_NOT_BEGUN();                                                             \
		OBSERVED(#name #suffix);                                                           \
		return call;                                                                       \
	}
#define PLAIN(name, parameters, call)                                                              \
	int name parameters                                                                        \
	{                                                                                          \
		RETURN_IF_NOT_BEGUN();                                                             \
		OBSERVED(#name);                                                                   \
		return call;                                                                       \
	}

static int device_set(int wanted)
{
	void *context;
	int ret = driver.cuDevicePrimaryCtxRetain(&context, wanted);

	if (ret == FAKE_OK) {
		driver.cuCtxSetCurrent(context);
		device = wanted;
	}
	return ret;
}

static void (*on_launch)(void);
static long launches;

long cudaFakeLaunches(void)
{
	return __atomic_load_n(&launches, __ATOMIC_RELAXED);
}

uint64_t cudaFakeWaitedNs(void)
{
	return driver.waited_ns ? driver.waited_ns() : 0;
}

void cudaFakeOnLaunch(void (*function)(void))
{
	on_launch = function;
}

static int launch(int form, const void *f, struct fake_dim3 grid, struct fake_dim3 block,
		  void **arguments, size_t shared, void *stream)
{
	int ret;

	if (!grid.x || !grid.y || !grid.z)
		return FAKE_INVALID_CONFIGURATION;
	ret = driver.cuLaunchKernel[form]((void *)f, grid.x, grid.y, grid.z, block.x, block.y,
					  block.z, (unsigned)shared, stream, arguments, NULL);
	__atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
	if (on_launch)
		on_launch();
	return ret;
}

static int copy_now(int form, void *to, const void *from, size_t bytes, int kind)
{
	switch (kind) {
	case FAKE_H2D:
		return driver.cuMemcpyHtoD[form]((uint64_t)to, from, bytes);
	case FAKE_D2H:
		return driver.cuMemcpyDtoH[form](to, (uint64_t)from, bytes);
	case FAKE_D2D:
		return driver.cuMemcpyDtoD[form]((uint64_t)to, (uint64_t)from, bytes);
	}
	return driver.cuMemcpy[form]((uint64_t)to, (uint64_t)from, bytes);
}

static int copy(int form, void *to, const void *from, size_t bytes, int kind, void *stream)
{
	switch (kind) {
	case FAKE_H2D:
		return driver.cuMemcpyHtoDAsync[form]((uint64_t)to, from, bytes, stream);
	case FAKE_D2H:
		return driver.cuMemcpyDtoHAsync[form](to, (uint64_t)from, bytes, stream);
	case FAKE_D2D:
		return driver.cuMemcpyDtoDAsync[form]((uint64_t)to, (uint64_t)from, bytes, stream);
	}
	return driver.cuMemcpyAsync[form]((uint64_t)to, (uint64_t)from, bytes, stream);
}

/* Line by line: more driver calls than one for a call of the runtime. */
static int copy_2d(int form, char *to, size_t to_pitch, const char *from, size_t from_pitch,
		   size_t width, size_t height, int kind, void *stream)
{
	int ret = FAKE_OK;

	for (size_t y = 0; y < height && ret == FAKE_OK; y++)
		ret = copy(form, to + y * to_pitch, from + y * from_pitch, width, kind, stream);
	return ret;
}

static int copy_3d(int form, const struct fake_copy_3d *c, void *stream)
{
	return copy_2d(form, c->target.pointer, c->target.pitch, c->source.pointer, c->source.pitch,
		       c->extent.width, c->extent.height * c->extent.depth, c->kind, stream);
}

static int and_finish(int form, int ret)
{
	return ret == FAKE_OK ? driver.cuStreamSynchronize[form](NULL) : ret;
}

FORMS(cudaLaunchKernel, _ptsz,
      (const void *f, struct fake_dim3 grid, struct fake_dim3 block, void **arguments,
       size_t shared, void *stream),
      launch(form, f, grid, block, arguments, shared, stream))
FORMS(cudaLaunchCooperativeKernel, _ptsz,
      (const void *f, struct fake_dim3 grid, struct fake_dim3 block, void **arguments,
       size_t shared, void *stream),
      driver.cuLaunchCooperativeKernel[form]((void *)f, grid.x, grid.y, grid.z, block.x, block.y,
					     block.z, (unsigned)shared, stream, arguments))
FORMS(cudaLaunchHostFunc, _ptsz, (void *stream, void (*function)(void *), void *data),
      driver.cuLaunchHostFunc[form](stream, function, data))
FORMS(cudaStreamAddCallback, _ptsz,
      (void *stream, void (*function)(void *, int, void *), void *data, unsigned flags),
      driver.cuStreamAddCallback[form](stream, function, data, flags))
FORMS(cudaSignalExternalSemaphoresAsync, _ptsz,
      (const void *semaphores, const void *what, unsigned count, void *stream),
      driver.cuSignalExternalSemaphoresAsync[form](semaphores, what, count, stream))
FORMS(cudaWaitExternalSemaphoresAsync, _ptsz,
      (const void *semaphores, const void *what, unsigned count, void *stream),
      driver.cuWaitExternalSemaphoresAsync[form](semaphores, what, count, stream))
FORMS(cudaStreamAttachMemAsync, _ptsz, (void *stream, void *address, size_t bytes, unsigned flags),
      driver.cuStreamAttachMemAsync[form](stream, (uint64_t)address, bytes, flags))
FORMS(cudaGraphUpload, _ptsz, (void *graph, void *stream),
      driver.cuGraphUpload[form](graph, stream))
FORMS(cudaMemcpyWithAttributesAsync, _ptsz,
      (void *to, const void *from, size_t bytes, void *attributes, void *stream),
      driver.cuMemcpyWithAttributesAsync[form]((uint64_t)to, (uint64_t)from, bytes, attributes,
					       stream))
FORMS(cudaMemcpy3DWithAttributesAsync, _ptsz,
      (const struct fake_copy_3d_of_13 *c, unsigned long long flags, void *stream),
      driver.cuMemcpy3DWithAttributesAsync[form](c, flags, stream))
FORMS(cudaGraphInstantiateWithParams, _ptsz, (void **instance, void *graph, void *how),
      ((void)form, driver.cuGraphInstantiateWithParams(instance, graph, how)))
PLAIN(cudaGraphInstantiateWithFlags, (void **instance, void *graph, unsigned long long flags),
      driver.cuGraphInstantiate(instance, graph, flags))
PLAIN(cudaGraphExecUpdate, (void *instance, void *graph, void *result),
      driver.cuGraphExecUpdate(instance, graph, result))
PLAIN(cudaExecutionCtxRecordEvent, (void *context, void *event),
      driver.cuCtxRecordEvent(context, event))
PLAIN(cudaExecutionCtxWaitEvent, (void *context, void *event),
      driver.cuCtxWaitEvent(context, event))
PLAIN(cudaExecutionCtxSynchronize, (void *context),
      context ? driver.cuCtxSynchronize() : FAKE_INVALID)
PLAIN(cudaExecutionCtxDestroy, (void *context), driver.cuGreenCtxDestroy(context))
PLAIN(cudaMemPoolTrimTo, (void *pool, size_t kept_bytes), driver.cuMemPoolTrimTo(pool, kept_bytes))
FORMS(cudaGraphLaunch, _ptsz, (void *graph, void *stream),
      driver.cuGraphLaunch[form](graph, stream))
FORMS(cudaStreamBeginCapture, _ptsz, (void *stream, int mode),
      driver.cuStreamBeginCapture[form](stream, mode))
FORMS(cudaStreamEndCapture, _ptsz, (void *stream, void **graph),
      driver.cuStreamEndCapture[form](stream, graph))
FORMS(cudaMemcpy, _ptds, (void *to, const void *from, size_t bytes, int kind),
      copy_now(form, to, from, bytes, kind))
FORMS(cudaMemcpyAsync, _ptsz, (void *to, const void *from, size_t bytes, int kind, void *stream),
      copy(form, to, from, bytes, kind, stream))
FORMS(cudaMemcpy2D, _ptds,
      (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
       int kind),
      and_finish(form, copy_2d(form, to, to_pitch, from, from_pitch, width, height, kind, NULL)))
FORMS(cudaMemcpy2DAsync, _ptsz,
      (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
       int kind, void *stream),
      copy_2d(form, to, to_pitch, from, from_pitch, width, height, kind, stream))
FORMS(cudaMemcpy3D, _ptds, (const struct fake_copy_3d *c), and_finish(form, copy_3d(form, c, NULL)))
FORMS(cudaMemcpy3DAsync, _ptsz, (const struct fake_copy_3d *c, void *stream),
      copy_3d(form, c, stream))
PLAIN(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t bytes),
      copy_now(0, to, from, bytes, FAKE_D2D))
PLAIN(cudaMemcpyPeerAsync,
      (void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream),
      copy(0, to, from, bytes, FAKE_D2D, stream))
FORMS(cudaMemset, _ptds, (void *to, int value, size_t bytes),
      driver.cuMemsetD8[form]((uint64_t)to, (unsigned char)value, bytes))
FORMS(cudaMemsetAsync, _ptsz, (void *to, int value, size_t bytes, void *stream),
      driver.cuMemsetD8Async[form]((uint64_t)to, (unsigned char)value, bytes, stream))
FORMS(cudaStreamSynchronize, _ptsz, (void *stream), driver.cuStreamSynchronize[form](stream))
FORMS(cudaStreamQuery, _ptsz, (void *stream), driver.cuStreamQuery[form](stream))
FORMS(cudaStreamWaitEvent, _ptsz, (void *stream, void *event, unsigned flags),
      driver.cuStreamWaitEvent[form](stream, event, flags))
FORMS(cudaEventRecord, _ptsz, (void *event, void *stream),
      driver.cuEventRecord[form](event, stream))
PLAIN(cudaDeviceSynchronize, (void), driver.cuCtxSynchronize())
PLAIN(cudaDeviceReset, (void), driver.cuDevicePrimaryCtxReset(device))
PLAIN(cudaSetDevice, (int wanted), device_set(wanted))
PLAIN(cudaGetDevice, (int *now), (*now = device, FAKE_OK))
PLAIN(cudaEventCreate, (void **event), driver.cuEventCreate(event, 0))
PLAIN(cudaEventDestroy, (void *event), driver.cuEventDestroy(event))
PLAIN(cudaEventSynchronize, (void *event), driver.cuEventSynchronize(event))
PLAIN(cudaEventQuery, (void *event), driver.cuEventQuery(event))
PLAIN(cudaEventElapsedTime, (float *ms, void *from, void *to),
      driver.cuEventElapsedTime(ms, from, to))
PLAIN(cudaStreamCreate, (void **stream), driver.cuStreamCreate(stream, 0))
PLAIN(cudaStreamDestroy, (void *stream), driver.cuStreamDestroy(stream))
PLAIN(cudaMalloc, (void **pointer, size_t bytes), driver.cuMemAlloc((uint64_t *)pointer, bytes))
PLAIN(cudaFree, (void *pointer), driver.cuMemFree((uint64_t)pointer))
FORMS(cudaMallocAsync, _ptsz, (void **pointer, size_t bytes, void *stream),
      driver.cuMemAllocAsync[form]((uint64_t *)pointer, bytes, stream))
FORMS(cudaFreeAsync, _ptsz, (void *pointer, void *stream),
      driver.cuMemFreeAsync[form]((uint64_t)pointer, stream))
FORMS(cudaMallocFromPoolAsync, _ptsz, (void **pointer, size_t bytes, void *pool, void *stream),
      driver.cuMemAllocFromPoolAsync[form]((uint64_t *)pointer, bytes, pool, stream))
PLAIN(cudaHostAlloc, (void **pointer, size_t bytes, unsigned flags),
      driver.cuMemHostAlloc(pointer, bytes, flags))
PLAIN(cudaMallocHost, (void **pointer, size_t bytes), driver.cuMemHostAlloc(pointer, bytes, 0))
PLAIN(cudaFreeHost, (void *pointer), driver.cuMemFreeHost(pointer))
PLAIN(cudaHostRegister, (void *pointer, size_t bytes, unsigned flags),
      driver.cuMemHostRegister(pointer, bytes, flags))
PLAIN(cudaHostUnregister, (void *pointer), driver.cuMemHostUnregister(pointer))
PLAIN(cudaGetDeviceCount, (int *count), driver.cuDeviceGetCount(count))

static int entry_point(int form, const char *symbol, void **function, unsigned version,
		       unsigned long long flags, int *status)
{
	int ret = driver.find_in_table(symbol, function, (int)version,
				       form ? FAKE_PER_THREAD : flags, status);

	return ret == FAKE_NOT_FOUND ? FAKE_OK : ret;
}

#if FAKE_IS_CUDA_11
FORMS(cudaGetDriverEntryPoint, _ptsz,
      (const char *symbol, void **function, unsigned long long flags),
      entry_point(form, symbol, function, FAKE_RUNTIME_VERSION, flags, NULL))
PLAIN(cudaGraphInstantiate,
      (void **instance, void *graph, void **node, char *log, size_t log_bytes),
      driver.cuGraphInstantiate(instance, graph, 0))
#else
static int launch_ex(int form, const struct fake_launch *l, const void *f, void **arguments)
{
	struct fake_driver_launch below = {
		.grid = {l->grid.x, l->grid.y, l->grid.z},
		.block = {l->block.x, l->block.y, l->block.z},
		.shared_bytes = (unsigned)l->shared_bytes,
		.stream = l->stream,
	};

	return driver.cuLaunchKernelEx[form](&below, (void *)f, arguments, NULL);
}

FORMS(__cudaLaunchKernel, _ptsz,
      (void *f, struct fake_dim3 grid, struct fake_dim3 block, void **arguments, size_t shared,
       void *stream),
      launch(form, f, grid, block, arguments, shared, stream))
FORMS(cudaLaunchKernelExC, _ptsz, (const struct fake_launch *l, const void *f, void **arguments),
      launch_ex(form, l, f, arguments))
PLAIN(cudaGraphInstantiate, (void **instance, void *graph, unsigned long long flags),
      driver.cuGraphInstantiate(instance, graph, flags))
FORMS(cudaGetDriverEntryPointByVersion, _ptsz,
      (const char *symbol, void **function, unsigned version, unsigned long long flags,
       int *status),
      entry_point(form, symbol, function, version, flags, status))
FORMS(cudaGetDriverEntryPoint, _ptsz,
      (const char *symbol, void **function, unsigned long long flags, int *status),
      entry_point(form, symbol, function, FAKE_RUNTIME_VERSION, flags, status))
#endif
