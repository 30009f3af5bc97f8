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

/* The calls that HIP has, too. */
#define RUNTIME_ONE(...) RUNTIME(__VA_ARGS__)
#define GPU_CALL(forms, name, kind, hip_forms, hip_name, hip_kind, ...)                            \
	RUNTIME_##forms(name, kind, __VA_ARGS__)
#define WORK_ARG ARG_WITH_WORK
#define COPY_ARG COPY_ARG_WITH_WORK
#define TO_DEVICE_ARG TO_DEVICE_ARG_WITH_WORK
#define TO_HOST_ARG TO_HOST_ARG_WITH_WORK
#define ON_DEVICE_ARG ON_DEVICE_ARG_WITH_WORK
#include "preload/cuda/runtime_calls.def"

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
RUNTIME_PTSZ(cudaMemcpyToArrayAsync, cudaMemcpyAsync, TO_DEVICE_ARG_WITH_WORK(stream, kind, from),
	     RET_OR_BYTES(bytes),
	     (void *array, size_t x, size_t y, const void *from, size_t bytes, int kind,
	      void *stream),
	     (array, x, y, from, bytes, kind, stream))
RUNTIME_PTSZ(cudaMemcpyFromArrayAsync, cudaMemcpyAsync, TO_HOST_ARG_WITH_WORK(stream, kind, to),
	     RET_OR_BYTES(bytes),
	     (void *to, const void *array, size_t x, size_t y, size_t bytes, int kind,
	      void *stream),
	     (to, array, x, y, bytes, kind, stream))
RUNTIME_PTDS(cudaMemcpyArrayToArray, cudaMemcpy, ON_DEVICE_ARG_WITH_WORK(NULL), RET_OR_BYTES(bytes),
	     (void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
	      size_t bytes, int kind),
	     (to, to_x, to_y, from, from_x, from_y, bytes, kind))

RUNTIME_PTDS(cudaMemcpy3DPeer, cudaMemcpy, ON_DEVICE_ARG_WITH_WORK(NULL),
	     RET_OR_BYTES(sp_cuda_bytes_of_box(&p->extent, p->source_array, p->target_array)),
	     (const struct sp_cuda_copy_3d_peer *p), (p))
RUNTIME_PTSZ(cudaMemcpy3DPeerAsync, cudaMemcpyAsync, ON_DEVICE_ARG_WITH_WORK(stream),
	     RET_OR_BYTES(sp_cuda_bytes_of_box(&p->extent, p->source_array, p->target_array)),
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

/* Waits, and what orders streams */
RUNTIME(cudaThreadSynchronize, cudaDeviceSynchronize, 0, RET_STATUS, (void), ())
RUNTIME(cudaExecutionCtxSynchronize, cudaDeviceSynchronize, 0, RET_STATUS, (void *context),
	(context))
RUNTIME_PTSZ(cudaLaunchHostFunc_v2, cudaLaunchHostFunc, ON(stream), RET_STATUS,
	     (void *stream, void (*function)(void *), void *data, unsigned mode),
	     (stream, function, data, mode))
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

/* Calls that prepare a graph for its launch. CUDA 11 has up to two parameters more: they are passed
 * on. */
RUNTIME(cudaGraphInstantiate, cudaGraphInstantiate, 0, RET_STATUS,
	(void **instance, void *graph, unsigned long long flags, char *log, size_t log_bytes),
	(instance, graph, flags, log, log_bytes))
RUNTIME(cudaGraphExecUpdate, cudaGraphExecUpdate, 0, RET_STATUS,
	(void *instance, void *graph, void *result, void *more), (instance, graph, result, more))
RUNTIME_PTSZ(cudaStreamBeginCapture, cudaStreamBeginCapture, sp_cuda_arg_with_capture(stream, mode),
	     RET_STATUS, (void *stream, int mode), (stream, mode))
RUNTIME_PTSZ(cudaStreamBeginCaptureToGraph, cudaStreamBeginCapture,
	     sp_cuda_arg_with_capture(stream, mode), RET_STATUS,
	     (void *stream, void *graph, const void *dependencies, const void *data, size_t count,
	      int mode),
	     (stream, graph, dependencies, data, count, mode))

/* Ends of streams and contexts */
RUNTIME(cudaStreamDestroy, cudaStreamDestroy,
	(sp_cuda_time_drop_stream((uintptr_t)stream), ON(stream)), RET_STATUS, (void *stream),
	(stream))
RUNTIME(cudaDeviceReset, cudaDeviceReset, sp_cuda_arg_with_drop(), RET_STATUS, (void), ())
RUNTIME(cudaThreadExit, cudaDeviceReset, sp_cuda_arg_with_drop(), RET_STATUS, (void), ())

/* The context's streams are unusable from now on; device memory belongs to the primary context. */
RUNTIME(cudaExecutionCtxDestroy, cudaExecutionCtxDestroy, sp_cuda_arg_with_drop(), RET_STATUS,
	(void *context), (context))

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
