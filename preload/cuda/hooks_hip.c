/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP, libamdhip64.so.5 to .7: calls of programs and libraries that are linked to it (PyTorch for
 * ROCm, rocBLAS, MIOpen, RCCL), and of those that find its functions by dlsym or
 * hipGetProcAddress. Prototypes: hip_runtime_api.h 5.2 to 6.2. runtime_calls.def has the calls that
 * CUDA has, too.
 *
 * The stages are those of CUDA. Time on the device is not measured: no call notes work for the
 * event pairs of cuda_time.h.
 */
#include "preload/cuda/lookup_functions.h"

/* A function of HIP: the parameters are those of RUNTIME in hooks_cuda_runtime.c. */
#define HIP(name, kind, arg, value, parameters, arguments)                                         \
	SP_LOOKUP_HOOK_ONE(name, "hip", SP_CUDA_HIP, SP_CUDA_CALLS, SP_EV_##kind, arg, value,      \
			   parameters, arguments)
#define HIP_SPT(name, ...)                                                                         \
	HIP(name, __VA_ARGS__)                                                                     \
	HIP(name##_spt, __VA_ARGS__)

/* hipMemcpyDeviceToDeviceNoCU: by the copy engine */
#define COPY_ON_DEVICE_BY_ENGINE 1024

#define ON(stream) sp_cuda_arg_make((uintptr_t)(stream), 0, 0)

static uint32_t copy_arg_make(const void *stream, int kind, const void *to, const void *from)
{
	return sp_cuda_copy_arg(stream, kind == COPY_ON_DEVICE_BY_ENGINE ? SP_COPY_ON_DEVICE : kind,
				to, from);
}

/* The calls that CUDA's runtime has, too. hipErrorNotReady has CUDA's number, and
 * struct hipMemcpy3DParms has CUDA's fields. */
#define HIP_ONE(...) HIP(__VA_ARGS__)
#define GPU_CALL(cuda_forms, cuda_name, cuda_kind, forms, name, kind, ...)                         \
	HIP_##forms(name, kind, __VA_ARGS__)
#define WORK_ARG ON
#define COPY_ARG copy_arg_make
#define TO_DEVICE_ARG(stream, kind, from)                                                          \
	COPY_ARG(stream, (kind) == SP_COPY_UNKNOWN ? SP_COPY_TO_DEVICE : (kind), NULL, from)
#define TO_HOST_ARG(stream, kind, to)                                                              \
	COPY_ARG(stream, (kind) == SP_COPY_UNKNOWN ? SP_COPY_TO_HOST : (kind), to, NULL)
#define ON_DEVICE_ARG(stream) COPY_ARG(stream, SP_COPY_ON_DEVICE, NULL, NULL)
#include "preload/cuda/runtime_calls.def"

/* Launches. <<<>>> of hipcc is hipLaunchKernel. */
HIP_SPT(hipLaunchKernel, hipLaunchKernel, ON(stream), RET_STATUS,
	(const void *function, struct sp_cuda_dim3_passed grid, struct sp_cuda_dim3_passed block,
	 void **arguments, size_t shared_bytes, void *stream),
	(function, grid, block, arguments, shared_bytes, stream))
HIP(hipExtLaunchKernel, hipLaunchKernel, ON(stream), RET_STATUS,
    (const void *function, struct sp_cuda_dim3 grid, struct sp_cuda_dim3 block, void **arguments,
     size_t shared_bytes, void *stream, void *begin_event, void *end_event, int flags),
    (function, grid, block, arguments, shared_bytes, stream, begin_event, end_event, flags))
HIP(hipLaunchByPtr, hipLaunchKernel, 0, RET_STATUS, (const void *function), (function))
HIP_SPT(hipLaunchCooperativeKernel, hipLaunchCooperativeKernel, ON(stream), RET_STATUS,
	(const void *function, struct sp_cuda_dim3 grid, struct sp_cuda_dim3 block,
	 void **arguments, unsigned shared_bytes, void *stream),
	(function, grid, block, arguments, shared_bytes, stream))
HIP(hipLaunchCooperativeKernelMultiDevice, hipLaunchCooperativeKernel, 0, RET_STATUS,
    (void *list, int devices, unsigned flags), (list, devices, flags))
HIP(hipExtLaunchMultiKernelMultiDevice, hipLaunchCooperativeKernel, 0, RET_STATUS,
    (void *list, int devices, unsigned flags), (list, devices, flags))
HIP(hipModuleLaunchKernel, hipModuleLaunchKernel, ON(stream), RET_STATUS,
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
     unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments,
     void **extra),
    (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments,
     extra))
HIP(hipModuleLaunchCooperativeKernel, hipLaunchCooperativeKernel, ON(stream), RET_STATUS,
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
     unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments),
    (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments))
HIP(hipModuleLaunchCooperativeKernelMultiDevice, hipLaunchCooperativeKernel, 0, RET_STATUS,
    (void *list, unsigned devices, unsigned flags), (list, devices, flags))
/* hipExtModuleLaunchKernel and hipHccModuleLaunchKernel of hip_ext.h have C++ names; rocBLAS
 * launches by the first. */
HIP(_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j,
    hipModuleLaunchKernel, ON(stream), RET_STATUS,
    (void *function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
     unsigned block_z, size_t shared_bytes, void *stream, void **arguments, void **extra,
     void *begin_event, void *end_event, unsigned flags),
    (function, x, y, z, block_x, block_y, block_z, shared_bytes, stream, arguments, extra,
     begin_event, end_event, flags))
HIP(_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_,
    hipModuleLaunchKernel, ON(stream), RET_STATUS,
    (void *function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
     unsigned block_z, size_t shared_bytes, void *stream, void **arguments, void **extra,
     void *begin_event, void *end_event),
    (function, x, y, z, block_x, block_y, block_z, shared_bytes, stream, arguments, extra,
     begin_event, end_event))
HIP_SPT(hipGraphLaunch, hipGraphLaunch, ON(stream), RET_STATUS, (void *graph, void *stream),
	(graph, stream))

/* Copies */
HIP(hipMemcpyWithStream, hipMemcpy, COPY_ARG(stream, kind, to, from), RET_OR_BYTES(bytes),
    (void *to, const void *from, size_t bytes, int kind, void *stream),
    (to, from, bytes, kind, stream))
HIP(hipMemcpyHtoD, hipMemcpy, COPY_ARG(NULL, SP_COPY_TO_DEVICE, to, from), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes), (to, from, bytes))
HIP(hipMemcpyDtoH, hipMemcpy, COPY_ARG(NULL, SP_COPY_TO_HOST, to, from), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes), (to, from, bytes))
HIP(hipMemcpyDtoD, hipMemcpy, ON_DEVICE_ARG(NULL), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes), (to, from, bytes))
HIP(hipMemcpyHtoDAsync, hipMemcpyAsync, COPY_ARG(stream, SP_COPY_TO_DEVICE, to, from),
    RET_OR_BYTES(bytes), (void *to, void *from, size_t bytes, void *stream),
    (to, from, bytes, stream))
HIP(hipMemcpyDtoHAsync, hipMemcpyAsync, COPY_ARG(stream, SP_COPY_TO_HOST, to, from),
    RET_OR_BYTES(bytes), (void *to, void *from, size_t bytes, void *stream),
    (to, from, bytes, stream))
HIP(hipMemcpyDtoDAsync, hipMemcpyAsync, ON_DEVICE_ARG(stream), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes, void *stream), (to, from, bytes, stream))
HIP(hipMemcpyHtoA, hipMemcpy, TO_DEVICE_ARG(NULL, SP_COPY_TO_DEVICE, from), RET_OR_BYTES(bytes),
    (void *array, size_t offset, const void *from, size_t bytes), (array, offset, from, bytes))
HIP(hipMemcpyAtoH, hipMemcpy, TO_HOST_ARG(NULL, SP_COPY_TO_HOST, to), RET_OR_BYTES(bytes),
    (void *to, void *array, size_t offset, size_t bytes), (to, array, offset, bytes))
HIP(hipMemcpyHtoAAsync, hipMemcpyAsync, TO_DEVICE_ARG(stream, SP_COPY_TO_DEVICE, from),
    RET_OR_BYTES(bytes), (void *array, size_t offset, const void *from, size_t bytes, void *stream),
    (array, offset, from, bytes, stream))
HIP(hipMemcpyAtoHAsync, hipMemcpyAsync, TO_HOST_ARG(stream, SP_COPY_TO_HOST, to),
    RET_OR_BYTES(bytes), (void *to, void *array, size_t offset, size_t bytes, void *stream),
    (to, array, offset, bytes, stream))
HIP(hipMemcpyAtoA, hipMemcpy, ON_DEVICE_ARG(NULL), RET_OR_BYTES(bytes),
    (void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes),
    (to, to_offset, from, from_offset, bytes))
HIP(hipMemcpyAtoD, hipMemcpy, ON_DEVICE_ARG(NULL), RET_OR_BYTES(bytes),
    (void *to, void *array, size_t offset, size_t bytes), (to, array, offset, bytes))
HIP(hipMemcpyDtoA, hipMemcpy, ON_DEVICE_ARG(NULL), RET_OR_BYTES(bytes),
    (void *array, size_t offset, void *from, size_t bytes), (array, offset, from, bytes))

/* hip_Memcpy2D and HIP_MEMCPY3D changed between versions: neither direction nor bytes are read. */
HIP(hipMemcpyParam2D, hipMemcpy, sp_cuda_arg_make(0, SP_COPY_UNKNOWN, 0), RET_STATUS,
    (const void *p), (p))
HIP(hipMemcpyParam2DAsync, hipMemcpyAsync, sp_cuda_arg_make((uintptr_t)stream, SP_COPY_UNKNOWN, 0),
    RET_STATUS, (const void *p, void *stream), (p, stream))
HIP(hipDrvMemcpy2DUnaligned, hipMemcpy, sp_cuda_arg_make(0, SP_COPY_UNKNOWN, 0), RET_STATUS,
    (const void *p), (p))
HIP(hipDrvMemcpy3D, hipMemcpy, sp_cuda_arg_make(0, SP_COPY_UNKNOWN, 0), RET_STATUS, (const void *p),
    (p))
HIP(hipDrvMemcpy3DAsync, hipMemcpyAsync, sp_cuda_arg_make((uintptr_t)stream, SP_COPY_UNKNOWN, 0),
    RET_STATUS, (const void *p, void *stream), (p, stream))

/* Memory set */
HIP(hipMemsetD8, hipMemset, 0, RET_OR_BYTES(count), (void *to, unsigned char value, size_t count),
    (to, value, count))
HIP(hipMemsetD16, hipMemset, 0, RET_OR_BYTES(2 * count),
    (void *to, unsigned short value, size_t count), (to, value, count))
HIP(hipMemsetD32, hipMemset, 0, RET_OR_BYTES(4 * count), (void *to, int value, size_t count),
    (to, value, count))
HIP(hipMemsetD8Async, hipMemsetAsync, ON(stream), RET_OR_BYTES(count),
    (void *to, unsigned char value, size_t count, void *stream), (to, value, count, stream))
HIP(hipMemsetD16Async, hipMemsetAsync, ON(stream), RET_OR_BYTES(2 * count),
    (void *to, unsigned short value, size_t count, void *stream), (to, value, count, stream))
HIP(hipMemsetD32Async, hipMemsetAsync, ON(stream), RET_OR_BYTES(4 * count),
    (void *to, int value, size_t count, void *stream), (to, value, count, stream))

/* Waits, and what orders streams. */
HIP(hipCtxSynchronize, hipDeviceSynchronize, 0, RET_STATUS, (void), ())
HIP(hipSignalExternalSemaphoresAsync, hipSignalExternalSemaphoresAsync, ON(stream), RET_STATUS,
    (const void *semaphores, const void *what, unsigned count, void *stream),
    (semaphores, what, count, stream))
HIP(hipWaitExternalSemaphoresAsync, hipWaitExternalSemaphoresAsync, ON(stream), RET_STATUS,
    (const void *semaphores, const void *what, unsigned count, void *stream),
    (semaphores, what, count, stream))

/* Graphs */
HIP(hipGraphInstantiate, hipGraphInstantiate, 0, RET_STATUS,
    (void **instance, void *graph, void **failed, char *log, size_t log_bytes),
    (instance, graph, failed, log, log_bytes))
HIP(hipGraphExecUpdate, hipGraphExecUpdate, 0, RET_STATUS,
    (void *instance, void *graph, void **failed, void *result), (instance, graph, failed, result))
HIP_SPT(hipStreamBeginCapture, hipStreamBeginCapture, ON(stream), RET_STATUS,
	(void *stream, int mode), (stream, mode))
HIP(hipStreamBeginCaptureToGraph, hipStreamBeginCapture, ON(stream), RET_STATUS,
    (void *stream, void *graph, const void *dependencies, const void *data, size_t count, int mode),
    (stream, graph, dependencies, data, count, mode))

/* Ends of streams and contexts */
HIP(hipStreamDestroy, hipStreamDestroy, ON(stream), RET_STATUS, (void *stream), (stream))
HIP(hipDeviceReset, hipDeviceReset, 0, RET_STATUS, (void), ())

/* Memory */
HIP(hipExtMallocWithFlags, hipMalloc, 0, RET_MADE(DEVICE, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipMemAllocPitch, hipMalloc, 0, RET_MADE(DEVICE, address, ret ? 0 : *pitch *height),
    (void **address, size_t *pitch, size_t width, size_t height, unsigned element_bytes),
    (address, pitch, width, height, element_bytes))
HIP(hipHostMalloc, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipExtHostAlloc, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipMemAllocHost, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes), (address, bytes))
HIP(hipMemCreate, hipMemCreate, 0,
    (ret || !call.span.thread ? (void)0
			      : sp_cuda_made(&call, (const void *)((uintptr_t)*handle << 8)),
     RET_OR_BYTES(bytes)),
    (void **handle, size_t bytes, const void *properties, unsigned long long flags),
    (handle, bytes, properties, flags))
HIP(hipHostFree, hipHostFree, FREED(PINNED, address), RET_STATUS, (void *address), (address))
HIP(hipMemRelease, hipMemRelease, (uint32_t)(uintptr_t)handle, RET_STATUS, (void *handle), (handle))

/* ROCm 6: gives a function by name and version. All versions of a name have one prototype. */
static int proc_address(int (*real)(const char *, void **, int, uint64_t, int *),
			const char *symbol, void **function, int version, uint64_t flags,
			int *status)
{
	int ret = real(symbol, function, version, flags, status);

	if (ret == 0 && symbol && function && *function)
		*function = sp_lookup_wrap(symbol, *function);
	return ret;
}

SP_HOOK(int, hipGetProcAddress, const char *symbol, void **function, int version, uint64_t flags,
	int *status)
{
	static SP_CUDA_CALLERS_OF(callers);
	static const struct sp_cuda_original original =
		SP_CUDA_ORIGINAL(callers, hipGetProcAddress, "hip", sp_wrap_hipGetProcAddress);
	struct sp_object_range inner;

	return proc_address(sp_cuda_original_find(&original, __builtin_return_address(0), &inner),
			    symbol, function, version, flags, status);
}

static struct sp_lookup_copy sp_copies_hipGetProcAddress[1];

static int sp_copy0_hipGetProcAddress(const char *symbol, void **function, int version,
				      uint64_t flags, int *status)
{
	return proc_address(__atomic_load_n(&sp_copies_hipGetProcAddress[0].function,
					    __ATOMIC_ACQUIRE),
			    symbol, function, version, flags, status);
}
SP_LOOKUP_LIST(hipGetProcAddress, SP_CUDA_HIP, (void *)sp_copy0_hipGetProcAddress)
