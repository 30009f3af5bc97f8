/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime, libcudart.so.11.0, .12 and .13: calls of programs that are linked to the
 * shared library. A program with a static runtime is seen at the driver (hooks_cuda_driver.c).
 *
 * Programs compiled for per-thread default streams call the names with _ptsz and _ptds. nvcc 13
 * compiles <<<>>> to __cudaLaunchKernel.
 */
#include "preload/cuda/cuda.h"
#include "preload/cuda/cuda_driver.h"
#include "preload/cuda/cuda_launch.h"

/* A function of the runtime: `kind` names its event; `arg` is evaluated before the call, `value`
 * after it. */
#define RUNTIME(name, kind, arg, value, parameters, arguments)                                     \
	SP_CUDA_HOOK(name, "cuda", SP_CUDA_CALLS, SP_EV_##kind, arg, value, parameters, arguments)
#define RUNTIME_PTSZ(name, ...)                                                                    \
	RUNTIME(name, __VA_ARGS__)                                                                 \
	RUNTIME(name##_ptsz, __VA_ARGS__)
#define RUNTIME_PTDS(name, ...)                                                                    \
	RUNTIME(name, __VA_ARGS__)                                                                 \
	RUNTIME(name##_ptds, __VA_ARGS__)

/* A launch, the most frequent call; `on` is its stream. */
#define RUNTIME_LAUNCH(name, kind, on, parameters, arguments)                                      \
	RUNTIME_LAUNCH_ONE(name, kind, on, parameters, arguments)                                  \
	RUNTIME_LAUNCH_ONE(name##_ptsz, kind, on, parameters, arguments)
#define RUNTIME_LAUNCH_ONE(name, kind, on, parameters, arguments)                                  \
	static SP_CUDA_CALLERS_OF(sp_callers_##name);                                              \
	static const struct sp_cuda_original sp_original_##name;                                   \
	static __attribute__((noinline, cold)) int sp_slow_path_##name(const void *caller,         \
								       SP_UNPACK parameters)       \
	{                                                                                          \
		const struct sp_cuda_original *const original = &sp_original_##name;               \
                                                                                                   \
		SP_CUDA_RETURN_HOOK_CALL(original, caller, SP_CUDA_CALLS, SP_EV_##kind,            \
					 ARG_WITH_WORK(on), RET_STATUS, parameters, arguments)     \
	}                                                                                          \
	SP_HOOK(int, name, SP_UNPACK parameters)                                                   \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		struct sp_thread *thread = sp_cuda_launch_enter();                                 \
		void *real;                                                                        \
                                                                                                   \
		if (sp_unlikely(!thread ||                                                         \
				!sp_cuda_caller_read(&sp_callers_##name[0], caller, &real,         \
						     &thread->layer_calls[SP_CUDA_CALLS].inner)))  \
			return sp_slow_path_##name(caller, SP_UNPACK arguments);                   \
		SP_CUDA_RETURN_LAUNCH(thread, real, SP_EV_##kind, ON(on), parameters, arguments)   \
	}                                                                                          \
	static const struct sp_cuda_original sp_original_##name =                                  \
		SP_CUDA_ORIGINAL(sp_callers_##name, name, "cuda", sp_wrap_##name);

#define ON(stream) sp_cuda_arg_make((uintptr_t)(stream), 0, 0)
/* BEGIN_WORK_OF_HOOK and *_WITH_WORK read `original` of the hook. */
#define BEGIN_WORK_OF_HOOK(stream)                                                                 \
	SP_CUDA_TIME_WORK((uintptr_t)(stream), sp_cuda_name_is_per_thread(original->name))
#define ARG_WITH_WORK(stream) (BEGIN_WORK_OF_HOOK(stream), ON(stream))
#define COPY_ARG_WITH_WORK(stream, kind, to, from)                                                 \
	(BEGIN_WORK_OF_HOOK(stream), sp_cuda_copy_arg(stream, kind, to, from))
/* Symbols and arrays are the device's. */
#define TO_DEVICE_ARG_WITH_WORK(stream, kind, from)                                                \
	COPY_ARG_WITH_WORK(stream, (kind) == SP_COPY_UNKNOWN ? SP_COPY_TO_DEVICE : (kind), NULL,   \
			   from)
#define TO_HOST_ARG_WITH_WORK(stream, kind, to)                                                    \
	COPY_ARG_WITH_WORK(stream, (kind) == SP_COPY_UNKNOWN ? SP_COPY_TO_HOST : (kind), to, NULL)
#define ON_DEVICE_ARG_WITH_WORK(stream) COPY_ARG_WITH_WORK(stream, SP_COPY_ON_DEVICE, NULL, NULL)

/* Launches */
RUNTIME_LAUNCH(cudaLaunchKernel, cudaLaunchKernel, stream,
	       (const void *function, struct sp_cuda_dim3_passed grid,
		struct sp_cuda_dim3_passed block, void **arguments, size_t shared_bytes,
		void *stream),
	       (function, grid, block, arguments, shared_bytes, stream))
RUNTIME_LAUNCH(__cudaLaunchKernel, cudaLaunchKernel, stream,
	       (void *kernel, struct sp_cuda_dim3_passed grid, struct sp_cuda_dim3_passed block,
		void **arguments, size_t shared_bytes, void *stream),
	       (kernel, grid, block, arguments, shared_bytes, stream))
RUNTIME_LAUNCH(cudaLaunchKernelExC, cudaLaunchKernelExC, (config ? config->stream : NULL),
	       (const struct sp_cuda_launch_config *config, const void *function, void **arguments),
	       (config, function, arguments))
RUNTIME_PTSZ(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel, ARG_WITH_WORK(stream),
	     RET_STATUS,
	     (const void *function, struct sp_cuda_dim3 grid, struct sp_cuda_dim3 block,
	      void **arguments, size_t shared_bytes, void *stream),
	     (function, grid, block, arguments, shared_bytes, stream))
/* Gone in CUDA 13. */
RUNTIME(cudaLaunchCooperativeKernelMultiDevice, cudaLaunchCooperativeKernel, 0, RET_STATUS,
	(void *list, unsigned devices, unsigned flags), (list, devices, flags))
RUNTIME_PTSZ(cudaGraphLaunch, cudaGraphLaunch, (sp_cuda_time_graph_launch(), ARG_WITH_WORK(stream)),
	     RET_STATUS, (void *graph, void *stream), (graph, stream))

/* Copies */
RUNTIME_PTDS(cudaMemcpy, cudaMemcpy, COPY_ARG_WITH_WORK(NULL, kind, to, from), RET_OR_BYTES(bytes),
	     (void *to, const void *from, size_t bytes, int kind), (to, from, bytes, kind))
RUNTIME_PTSZ(cudaMemcpyAsync, cudaMemcpyAsync, COPY_ARG_WITH_WORK(stream, kind, to, from),
	     RET_OR_BYTES(bytes),
	     (void *to, const void *from, size_t bytes, int kind, void *stream),
	     (to, from, bytes, kind, stream))
RUNTIME_PTDS(cudaMemcpy2D, cudaMemcpy, COPY_ARG_WITH_WORK(NULL, kind, to, from),
	     RET_OR_BYTES(width *height),
	     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	      size_t height, int kind),
	     (to, to_pitch, from, from_pitch, width, height, kind))
RUNTIME_PTSZ(cudaMemcpy2DAsync, cudaMemcpyAsync, COPY_ARG_WITH_WORK(stream, kind, to, from),
	     RET_OR_BYTES(width *height),
	     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	      size_t height, int kind, void *stream),
	     (to, to_pitch, from, from_pitch, width, height, kind, stream))
RUNTIME(cudaMemcpyPeer, cudaMemcpy, ON_DEVICE_ARG_WITH_WORK(NULL), RET_OR_BYTES(bytes),
	(void *to, int to_device, const void *from, int from_device, size_t bytes),
	(to, to_device, from, from_device, bytes))
RUNTIME(cudaMemcpyPeerAsync, cudaMemcpyAsync, ON_DEVICE_ARG_WITH_WORK(stream), RET_OR_BYTES(bytes),
	(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream),
	(to, to_device, from, from_device, bytes, stream))
RUNTIME_PTDS(cudaMemcpyToSymbol, cudaMemcpy, TO_DEVICE_ARG_WITH_WORK(NULL, kind, from),
	     RET_OR_BYTES(bytes),
	     (const void *symbol, const void *from, size_t bytes, size_t offset, int kind),
	     (symbol, from, bytes, offset, kind))
RUNTIME_PTSZ(cudaMemcpyToSymbolAsync, cudaMemcpyAsync, TO_DEVICE_ARG_WITH_WORK(stream, kind, from),
	     RET_OR_BYTES(bytes),
	     (const void *symbol, const void *from, size_t bytes, size_t offset, int kind,
	      void *stream),
	     (symbol, from, bytes, offset, kind, stream))
RUNTIME_PTDS(cudaMemcpyFromSymbol, cudaMemcpy, TO_HOST_ARG_WITH_WORK(NULL, kind, to),
	     RET_OR_BYTES(bytes),
	     (void *to, const void *symbol, size_t bytes, size_t offset, int kind),
	     (to, symbol, bytes, offset, kind))
RUNTIME_PTSZ(cudaMemcpyFromSymbolAsync, cudaMemcpyAsync, TO_HOST_ARG_WITH_WORK(stream, kind, to),
	     RET_OR_BYTES(bytes),
	     (void *to, const void *symbol, size_t bytes, size_t offset, int kind, void *stream),
	     (to, symbol, bytes, offset, kind, stream))
RUNTIME_PTDS(cudaMemcpyToArray, cudaMemcpy, TO_DEVICE_ARG_WITH_WORK(NULL, kind, from),
	     RET_OR_BYTES(bytes),
	     (void *array, size_t x, size_t y, const void *from, size_t bytes, int kind),
	     (array, x, y, from, bytes, kind))
RUNTIME_PTSZ(cudaMemcpyToArrayAsync, cudaMemcpyAsync, TO_DEVICE_ARG_WITH_WORK(stream, kind, from),
	     RET_OR_BYTES(bytes),
	     (void *array, size_t x, size_t y, const void *from, size_t bytes, int kind,
	      void *stream),
	     (array, x, y, from, bytes, kind, stream))
RUNTIME_PTDS(cudaMemcpyFromArray, cudaMemcpy, TO_HOST_ARG_WITH_WORK(NULL, kind, to),
	     RET_OR_BYTES(bytes),
	     (void *to, const void *array, size_t x, size_t y, size_t bytes, int kind),
	     (to, array, x, y, bytes, kind))
RUNTIME_PTSZ(cudaMemcpyFromArrayAsync, cudaMemcpyAsync, TO_HOST_ARG_WITH_WORK(stream, kind, to),
	     RET_OR_BYTES(bytes),
	     (void *to, const void *array, size_t x, size_t y, size_t bytes, int kind,
	      void *stream),
	     (to, array, x, y, bytes, kind, stream))
RUNTIME_PTDS(cudaMemcpyArrayToArray, cudaMemcpy, ON_DEVICE_ARG_WITH_WORK(NULL), RET_OR_BYTES(bytes),
	     (void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
	      size_t bytes, int kind),
	     (to, to_x, to_y, from, from_x, from_y, bytes, kind))
RUNTIME_PTDS(cudaMemcpy2DToArray, cudaMemcpy, TO_DEVICE_ARG_WITH_WORK(NULL, kind, from),
	     RET_OR_BYTES(width *height),
	     (void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
	      size_t height, int kind),
	     (array, x, y, from, pitch, width, height, kind))
RUNTIME_PTSZ(cudaMemcpy2DToArrayAsync, cudaMemcpyAsync, TO_DEVICE_ARG_WITH_WORK(stream, kind, from),
	     RET_OR_BYTES(width *height),
	     (void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
	      size_t height, int kind, void *stream),
	     (array, x, y, from, pitch, width, height, kind, stream))
RUNTIME_PTDS(cudaMemcpy2DFromArray, cudaMemcpy, TO_HOST_ARG_WITH_WORK(NULL, kind, to),
	     RET_OR_BYTES(width *height),
	     (void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width,
	      size_t height, int kind),
	     (to, pitch, array, x, y, width, height, kind))
RUNTIME_PTSZ(cudaMemcpy2DFromArrayAsync, cudaMemcpyAsync, TO_HOST_ARG_WITH_WORK(stream, kind, to),
	     RET_OR_BYTES(width *height),
	     (void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width,
	      size_t height, int kind, void *stream),
	     (to, pitch, array, x, y, width, height, kind, stream))
RUNTIME_PTDS(cudaMemcpy2DArrayToArray, cudaMemcpy, ON_DEVICE_ARG_WITH_WORK(NULL),
	     RET_OR_BYTES(width *height),
	     (void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
	      size_t width, size_t height, int kind),
	     (to, to_x, to_y, from, from_x, from_y, width, height, kind))

/* An array's side has no pointer, and its extent counts elements: then the bytes are not known. */
static uint64_t bytes_3d(const struct sp_cuda_extent *extent, const void *array, const void *other)
{
	return array || other ? 0 : extent->width * extent->height * extent->depth;
}

RUNTIME_PTDS(cudaMemcpy3D, cudaMemcpy,
	     p ? COPY_ARG_WITH_WORK(NULL, p->kind, p->target.pointer, p->source.pointer) : 0,
	     RET_OR_BYTES(bytes_3d(&p->extent, p->source_array, p->target_array)),
	     (const struct sp_cuda_copy_3d *p), (p))
RUNTIME_PTSZ(cudaMemcpy3DAsync, cudaMemcpyAsync,
	     p ? COPY_ARG_WITH_WORK(stream, p->kind, p->target.pointer, p->source.pointer) : 0,
	     RET_OR_BYTES(bytes_3d(&p->extent, p->source_array, p->target_array)),
	     (const struct sp_cuda_copy_3d *p, void *stream), (p, stream))
RUNTIME_PTDS(cudaMemcpy3DPeer, cudaMemcpy, ON_DEVICE_ARG_WITH_WORK(NULL),
	     RET_OR_BYTES(bytes_3d(&p->extent, p->source_array, p->target_array)),
	     (const struct sp_cuda_copy_3d_peer *p), (p))
RUNTIME_PTSZ(cudaMemcpy3DPeerAsync, cudaMemcpyAsync, ON_DEVICE_ARG_WITH_WORK(stream),
	     RET_OR_BYTES(bytes_3d(&p->extent, p->source_array, p->target_array)),
	     (const struct sp_cuda_copy_3d_peer *p, void *stream), (p, stream))

static uint32_t batch_arg(const void *stream, void *const *to, const void *const *from,
			  size_t count)
{
	return to && from && count ? sp_cuda_copy_arg(stream, SP_COPY_UNKNOWN, to[0], from[0]) : 0;
}

/* CUDA 12.8's form has one argument more (where it failed) before the stream, so that what is the
 * stream here is a pointer there, and the stream rides in the ninth place: both are passed on. */
RUNTIME_PTSZ(cudaMemcpyBatchAsync, cudaMemcpyAsync, batch_arg(NULL, to, from, count),
	     RET_OR_BYTES(sp_cuda_bytes_of(sizes, count)),
	     (void *const *to, const void *const *from, const size_t *sizes, size_t count,
	      void *attributes, size_t *indices, size_t attribute_count, void *stream, void *more),
	     (to, from, sizes, count, attributes, indices, attribute_count, stream, more))

/* This form, too, has an argument more in CUDA 12.8. */
RUNTIME_PTSZ(cudaMemcpy3DBatchAsync, cudaMemcpyAsync, sp_cuda_arg_make(0, SP_COPY_UNKNOWN, 0),
	     RET_OR_BYTES(sp_cuda_bytes_of_3d(copies, count)),
	     (size_t count, const struct sp_cuda_copy_3d_batch *copies, void *flags, void *stream,
	      void *more),
	     (count, copies, flags, stream, more))

/* CUDA 13.2 */
RUNTIME_PTSZ(cudaMemcpyWithAttributesAsync, cudaMemcpyAsync,
	     COPY_ARG_WITH_WORK(stream, SP_COPY_UNKNOWN, to, from), RET_OR_BYTES(bytes),
	     (void *to, const void *from, size_t bytes, void *attributes, void *stream),
	     (to, from, bytes, attributes, stream))
RUNTIME_PTSZ(cudaMemcpy3DWithAttributesAsync, cudaMemcpyAsync,
	     COPY_ARG_WITH_WORK(stream, SP_COPY_UNKNOWN, NULL, NULL),
	     RET_OR_BYTES(sp_cuda_bytes_of_3d(copy, 1)),
	     (const struct sp_cuda_copy_3d_batch *copy, unsigned long long flags, void *stream),
	     (copy, flags, stream))

/* Memory set */
RUNTIME_PTDS(cudaMemset, cudaMemset, 0, RET_OR_BYTES(bytes), (void *to, int byte, size_t bytes),
	     (to, byte, bytes))
RUNTIME_PTSZ(cudaMemsetAsync, cudaMemsetAsync, ARG_WITH_WORK(stream), RET_OR_BYTES(bytes),
	     (void *to, int byte, size_t bytes, void *stream), (to, byte, bytes, stream))
RUNTIME_PTDS(cudaMemset2D, cudaMemset, 0, RET_OR_BYTES(width *height),
	     (void *to, size_t pitch, int byte, size_t width, size_t height),
	     (to, pitch, byte, width, height))
RUNTIME_PTSZ(cudaMemset2DAsync, cudaMemsetAsync, ARG_WITH_WORK(stream), RET_OR_BYTES(width *height),
	     (void *to, size_t pitch, int byte, size_t width, size_t height, void *stream),
	     (to, pitch, byte, width, height, stream))
RUNTIME_PTDS(cudaMemset3D, cudaMemset, 0, RET_OR_BYTES(extent.width *extent.height *extent.depth),
	     (struct sp_cuda_pitched to, int byte, struct sp_cuda_extent extent),
	     (to, byte, extent))
RUNTIME_PTSZ(cudaMemset3DAsync, cudaMemsetAsync, ARG_WITH_WORK(stream),
	     RET_OR_BYTES(extent.width *extent.height *extent.depth),
	     (struct sp_cuda_pitched to, int byte, struct sp_cuda_extent extent, void *stream),
	     (to, byte, extent, stream))

/* Waits, and what orders streams */
#define RET_QUERIED (ret == SP_CUDA_NOT_READY ? 1 : RET_STATUS)

RUNTIME_PTSZ(cudaStreamSynchronize, cudaStreamSynchronize, ON(stream), RET_STATUS, (void *stream),
	     (stream))
RUNTIME(cudaDeviceSynchronize, cudaDeviceSynchronize, 0, RET_STATUS, (void), ())
RUNTIME(cudaThreadSynchronize, cudaDeviceSynchronize, 0, RET_STATUS, (void), ())
RUNTIME(cudaExecutionCtxSynchronize, cudaDeviceSynchronize, 0, RET_STATUS, (void *context),
	(context))
RUNTIME(cudaEventSynchronize, cudaEventSynchronize, 0, RET_STATUS, (void *event), (event))
RUNTIME_PTSZ(cudaStreamQuery, cudaStreamQuery, ON(stream), RET_QUERIED, (void *stream), (stream))
RUNTIME(cudaEventQuery, cudaEventQuery, 0, RET_QUERIED, (void *event), (event))
RUNTIME_PTSZ(cudaEventRecord, cudaEventRecord, ON(stream), RET_STATUS, (void *event, void *stream),
	     (event, stream))
RUNTIME_PTSZ(cudaEventRecordWithFlags, cudaEventRecord, ON(stream), RET_STATUS,
	     (void *event, void *stream, unsigned flags), (event, stream, flags))
RUNTIME_PTSZ(cudaStreamWaitEvent, cudaStreamWaitEvent, ON(stream), RET_STATUS,
	     (void *stream, void *event, unsigned flags), (stream, event, flags))
RUNTIME_PTSZ(cudaLaunchHostFunc, cudaLaunchHostFunc, ON(stream), RET_STATUS,
	     (void *stream, void (*function)(void *), void *data), (stream, function, data))
RUNTIME_PTSZ(cudaLaunchHostFunc_v2, cudaLaunchHostFunc, ON(stream), RET_STATUS,
	     (void *stream, void (*function)(void *), void *data, unsigned mode),
	     (stream, function, data, mode))
RUNTIME_PTSZ(cudaStreamAddCallback, cudaLaunchHostFunc, ON(stream), RET_STATUS,
	     (void *stream, void (*function)(void *, int, void *), void *data, unsigned flags),
	     (stream, function, data, flags))
/* Calls for all streams of a context. */
RUNTIME(cudaExecutionCtxRecordEvent, cudaEventRecord, 0, RET_STATUS, (void *context, void *event),
	(context, event))
RUNTIME(cudaExecutionCtxWaitEvent, cudaStreamWaitEvent, 0, RET_STATUS, (void *context, void *event),
	(context, event))
/* CUDA 11 and 12 have the prototype under the second name. */
#define SEMAPHORES(name, kind)                                                                     \
	RUNTIME_PTSZ(name, kind, ON(stream), RET_STATUS,                                           \
		     (const void *semaphores, const void *what, unsigned count, void *stream),     \
		     (semaphores, what, count, stream))
SEMAPHORES(cudaSignalExternalSemaphoresAsync, cudaSignalExternalSemaphoresAsync)
SEMAPHORES(cudaSignalExternalSemaphoresAsync_v2, cudaSignalExternalSemaphoresAsync)
SEMAPHORES(cudaWaitExternalSemaphoresAsync, cudaWaitExternalSemaphoresAsync)
SEMAPHORES(cudaWaitExternalSemaphoresAsync_v2, cudaWaitExternalSemaphoresAsync)
RUNTIME_PTSZ(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync, ON(stream), RET_STATUS,
	     (void *stream, void *address, size_t bytes, unsigned flags),
	     (stream, address, bytes, flags))

/* Calls that prepare a graph for its launch. CUDA 11 has up to two parameters more: they are passed
 * on. */
RUNTIME(cudaGraphInstantiate, cudaGraphInstantiate, 0, RET_STATUS,
	(void **instance, void *graph, unsigned long long flags, char *log, size_t log_bytes),
	(instance, graph, flags, log, log_bytes))
RUNTIME(cudaGraphInstantiateWithFlags, cudaGraphInstantiate, 0, RET_STATUS,
	(void **instance, void *graph, unsigned long long flags), (instance, graph, flags))
RUNTIME_PTSZ(cudaGraphInstantiateWithParams, cudaGraphInstantiate, 0, RET_STATUS,
	     (void **instance, void *graph, void *how), (instance, graph, how))
RUNTIME_PTSZ(cudaGraphUpload, cudaGraphUpload, ON(stream), RET_STATUS,
	     (void *instance, void *stream), (instance, stream))
RUNTIME(cudaGraphExecUpdate, cudaGraphExecUpdate, 0, RET_STATUS,
	(void *instance, void *graph, void *result, void *more), (instance, graph, result, more))
RUNTIME_PTSZ(cudaStreamBeginCapture, cudaStreamBeginCapture, sp_cuda_arg_with_capture(stream, mode),
	     RET_STATUS, (void *stream, int mode), (stream, mode))
RUNTIME_PTSZ(cudaStreamBeginCaptureToGraph, cudaStreamBeginCapture,
	     sp_cuda_arg_with_capture(stream, mode), RET_STATUS,
	     (void *stream, void *graph, const void *dependencies, const void *data, size_t count,
	      int mode),
	     (stream, graph, dependencies, data, count, mode))
RUNTIME_PTSZ(cudaStreamEndCapture, cudaStreamEndCapture, ON(stream), RET_STATUS,
	     (void *stream, void **graph), (stream, graph))

/* Ends of streams and contexts */
RUNTIME(cudaStreamDestroy, cudaStreamDestroy,
	(sp_cuda_time_drop_stream((uintptr_t)stream), ON(stream)), RET_STATUS, (void *stream),
	(stream))
RUNTIME(cudaDeviceReset, cudaDeviceReset, sp_cuda_arg_with_drop(), RET_STATUS, (void), ())
RUNTIME(cudaThreadExit, cudaDeviceReset, sp_cuda_arg_with_drop(), RET_STATUS, (void), ())

/* The context's streams are unusable from now on; device memory belongs to the primary context. */
RUNTIME(cudaExecutionCtxDestroy, cudaExecutionCtxDestroy, sp_cuda_arg_with_drop(), RET_STATUS,
	(void *context), (context))

/* Memory */
#define RET_MADE(what, address, bytes)                                                             \
	sp_cuda_memory_made(&call, SP_CUDA_##what, ret, ret ? 0 : (uintptr_t) * (address), bytes)
#define FREED(what, address) sp_cuda_memory_freed(SP_CUDA_##what, (uintptr_t)(address))

RUNTIME(cudaMalloc, cudaMalloc, 0, RET_MADE(DEVICE, address, bytes), (void **address, size_t bytes),
	(address, bytes))
RUNTIME(cudaMallocManaged, cudaMalloc, 0, RET_MADE(DEVICE, address, bytes),
	(void **address, size_t bytes, unsigned flags), (address, bytes, flags))
RUNTIME(cudaMallocPitch, cudaMalloc, 0, RET_MADE(DEVICE, address, ret ? 0 : *pitch *height),
	(void **address, size_t *pitch, size_t width, size_t height),
	(address, pitch, width, height))
RUNTIME(cudaMalloc3D, cudaMalloc, 0,
	RET_MADE(DEVICE, &p->pointer, ret ? 0 : p->pitch *extent.height *extent.depth),
	(struct sp_cuda_pitched * p, struct sp_cuda_extent extent), (p, extent))
RUNTIME_PTSZ(cudaMallocAsync, cudaMallocAsync, 0, RET_MADE(DEVICE, address, bytes),
	     (void **address, size_t bytes, void *stream), (address, bytes, stream))
RUNTIME_PTSZ(cudaMallocFromPoolAsync, cudaMallocAsync, 0, RET_MADE(DEVICE, address, bytes),
	     (void **address, size_t bytes, void *pool, void *stream),
	     (address, bytes, pool, stream))
RUNTIME(cudaHostAlloc, cudaHostAlloc, 0, RET_MADE(PINNED, address, bytes),
	(void **address, size_t bytes, unsigned flags), (address, bytes, flags))
RUNTIME(cudaMallocHost, cudaHostAlloc, 0, RET_MADE(PINNED, address, bytes),
	(void **address, size_t bytes), (address, bytes))
RUNTIME(cudaHostRegister, cudaHostRegister, 0, RET_MADE(PINNED, &address, bytes),
	(void *address, size_t bytes, unsigned flags), (address, bytes, flags))
RUNTIME(cudaFree, cudaFree, FREED(DEVICE, address), RET_STATUS, (void *address), (address))
RUNTIME_PTSZ(cudaFreeAsync, cudaFreeAsync, FREED(DEVICE, address), RET_STATUS,
	     (void *address, void *stream), (address, stream))
RUNTIME(cudaFreeHost, cudaFreeHost, FREED(PINNED, address), RET_STATUS, (void *address), (address))
RUNTIME(cudaHostUnregister, cudaHostUnregister, FREED(PINNED, address), RET_STATUS, (void *address),
	(address))

/* Memory that pools hold is freed. */
RUNTIME(cudaMemPoolTrimTo, cudaMemPoolTrimTo, 0, RET_STATUS, (void *pool, size_t kept_bytes),
	(pool, kept_bytes))
RUNTIME(cudaMemPoolDestroy, cudaMemPoolTrimTo, 0, RET_STATUS, (void *pool), (pool))
RUNTIME(cudaDeviceGraphMemTrim, cudaMemPoolTrimTo, 0, RET_STATUS, (int device), (device))

/* Functions of the driver that the runtime gives away. Those that it got by cuGetProcAddress are
 * hooked already. */
#define ENTRY_POINT(name, version, per_thread, parameters, arguments)                              \
	SP_HOOK(int, name, SP_UNPACK parameters)                                                   \
	{                                                                                          \
		static SP_CUDA_CALLERS_OF(callers);                                                \
		static const struct sp_cuda_original original =                                    \
			SP_CUDA_ORIGINAL(callers, name, "cuda", sp_wrap_##name);                   \
		struct sp_object_range inner;                                                      \
		void *real =                                                                       \
			sp_cuda_original_find(&original, __builtin_return_address(0), &inner);     \
		int ret = ((int(*) parameters)real)arguments;                                      \
                                                                                                   \
		if (ret == 0 && function && *function)                                             \
			*function = sp_cuda_driver_wrap(symbol, version,                           \
							per_thread || (flags &                     \
								       SP_CUDA_LOOKUP_PER_THREAD), \
							*function);                                \
		return ret;                                                                        \
	}
#define ENTRY_POINTS(name, version, parameters, arguments)                                         \
	ENTRY_POINT(name, version, 0, parameters, arguments)                                       \
	ENTRY_POINT(name##_ptsz, version, 1, parameters, arguments)

/* CUDA 11's form has no status: what is in its register is passed on. */
ENTRY_POINTS(cudaGetDriverEntryPoint, SP_DRIVER_ANY_VERSION,
	     (const char *symbol, void **function, unsigned long long flags, int *status),
	     (symbol, function, flags, status))
ENTRY_POINTS(cudaGetDriverEntryPointByVersion, (int)version,
	     (const char *symbol, void **function, unsigned version, unsigned long long flags,
	      int *status),
	     (symbol, function, version, flags, status))
