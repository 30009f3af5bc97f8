/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP, libamdhip64.so.5 to .7: calls of programs and libraries that are linked to it (PyTorch for
 * ROCm, rocBLAS, MIOpen, RCCL), and of those that find its functions by dlsym or
 * hipGetProcAddress. Prototypes: hip_runtime_api.h 5.2 to 6.2. Names with _spt are the forms for
 * per-thread default streams.
 *
 * The stages are those of CUDA. Time on the device is not measured: no call notes work for the
 * event pairs of cuda_time.h.
 */
#include "preload/cuda/lookup_functions.h"

/* A function of HIP: the parameters are those of RUNTIME in hooks_cuda_runtime.c. */
#define HIP(name, kind, arg, value, parameters, arguments)                                         \
	SP_LOOKUP_HOOK(name, "hip", SP_CUDA_HIP, SP_CUDA_CALLS, SP_EV_##kind, arg, value,          \
		       parameters, arguments)
#define HIP_SPT(name, ...)                                                                         \
	HIP(name, __VA_ARGS__)                                                                     \
	HIP(name##_spt, __VA_ARGS__)

/* hipMemcpyDeviceToDeviceNoCU: by the copy engine */
#define COPY_ON_DEVICE_BY_ENGINE 1024

#define ON(stream) sp_cuda_arg_make((uintptr_t)(stream), 0, 0)

static uint32_t copy_arg(const void *stream, int kind, const void *to, const void *from)
{
	return sp_cuda_copy_arg(stream, kind == COPY_ON_DEVICE_BY_ENGINE ? SP_COPY_ON_DEVICE : kind,
				to, from);
}

/* Symbols and arrays are the device's. */
#define TO_DEVICE_ARG(stream, kind, from)                                                          \
	copy_arg(stream, (kind) == SP_COPY_UNKNOWN ? SP_COPY_TO_DEVICE : (kind), NULL, from)
#define TO_HOST_ARG(stream, kind, to)                                                              \
	copy_arg(stream, (kind) == SP_COPY_UNKNOWN ? SP_COPY_TO_HOST : (kind), to, NULL)
#define ON_DEVICE_ARG(stream) copy_arg(stream, SP_COPY_ON_DEVICE, NULL, NULL)

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
HIP_SPT(hipMemcpy, hipMemcpy, copy_arg(NULL, kind, to, from), RET_OR_BYTES(bytes),
	(void *to, const void *from, size_t bytes, int kind), (to, from, bytes, kind))
HIP(hipMemcpyWithStream, hipMemcpy, copy_arg(stream, kind, to, from), RET_OR_BYTES(bytes),
    (void *to, const void *from, size_t bytes, int kind, void *stream),
    (to, from, bytes, kind, stream))
HIP_SPT(hipMemcpyAsync, hipMemcpyAsync, copy_arg(stream, kind, to, from), RET_OR_BYTES(bytes),
	(void *to, const void *from, size_t bytes, int kind, void *stream),
	(to, from, bytes, kind, stream))
HIP(hipMemcpyHtoD, hipMemcpy, copy_arg(NULL, SP_COPY_TO_DEVICE, to, from), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes), (to, from, bytes))
HIP(hipMemcpyDtoH, hipMemcpy, copy_arg(NULL, SP_COPY_TO_HOST, to, from), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes), (to, from, bytes))
HIP(hipMemcpyDtoD, hipMemcpy, ON_DEVICE_ARG(NULL), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes), (to, from, bytes))
HIP(hipMemcpyHtoDAsync, hipMemcpyAsync, copy_arg(stream, SP_COPY_TO_DEVICE, to, from),
    RET_OR_BYTES(bytes), (void *to, void *from, size_t bytes, void *stream),
    (to, from, bytes, stream))
HIP(hipMemcpyDtoHAsync, hipMemcpyAsync, copy_arg(stream, SP_COPY_TO_HOST, to, from),
    RET_OR_BYTES(bytes), (void *to, void *from, size_t bytes, void *stream),
    (to, from, bytes, stream))
HIP(hipMemcpyDtoDAsync, hipMemcpyAsync, ON_DEVICE_ARG(stream), RET_OR_BYTES(bytes),
    (void *to, void *from, size_t bytes, void *stream), (to, from, bytes, stream))
HIP(hipMemcpyPeer, hipMemcpy, ON_DEVICE_ARG(NULL), RET_OR_BYTES(bytes),
    (void *to, int to_device, const void *from, int from_device, size_t bytes),
    (to, to_device, from, from_device, bytes))
HIP(hipMemcpyPeerAsync, hipMemcpyAsync, ON_DEVICE_ARG(stream), RET_OR_BYTES(bytes),
    (void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream),
    (to, to_device, from, from_device, bytes, stream))
HIP_SPT(hipMemcpy2D, hipMemcpy, copy_arg(NULL, kind, to, from), RET_OR_BYTES(width *height),
	(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	 size_t height, int kind),
	(to, to_pitch, from, from_pitch, width, height, kind))
HIP_SPT(hipMemcpy2DAsync, hipMemcpyAsync, copy_arg(stream, kind, to, from),
	RET_OR_BYTES(width *height),
	(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	 size_t height, int kind, void *stream),
	(to, to_pitch, from, from_pitch, width, height, kind, stream))
HIP_SPT(hipMemcpyToSymbol, hipMemcpy, TO_DEVICE_ARG(NULL, kind, from), RET_OR_BYTES(bytes),
	(const void *symbol, const void *from, size_t bytes, size_t offset, int kind),
	(symbol, from, bytes, offset, kind))
HIP_SPT(hipMemcpyToSymbolAsync, hipMemcpyAsync, TO_DEVICE_ARG(stream, kind, from),
	RET_OR_BYTES(bytes),
	(const void *symbol, const void *from, size_t bytes, size_t offset, int kind, void *stream),
	(symbol, from, bytes, offset, kind, stream))
HIP_SPT(hipMemcpyFromSymbol, hipMemcpy, TO_HOST_ARG(NULL, kind, to), RET_OR_BYTES(bytes),
	(void *to, const void *symbol, size_t bytes, size_t offset, int kind),
	(to, symbol, bytes, offset, kind))
HIP_SPT(hipMemcpyFromSymbolAsync, hipMemcpyAsync, TO_HOST_ARG(stream, kind, to),
	RET_OR_BYTES(bytes),
	(void *to, const void *symbol, size_t bytes, size_t offset, int kind, void *stream),
	(to, symbol, bytes, offset, kind, stream))
HIP(hipMemcpyToArray, hipMemcpy, TO_DEVICE_ARG(NULL, kind, from), RET_OR_BYTES(bytes),
    (void *array, size_t x, size_t y, const void *from, size_t bytes, int kind),
    (array, x, y, from, bytes, kind))
HIP_SPT(hipMemcpyFromArray, hipMemcpy, TO_HOST_ARG(NULL, kind, to), RET_OR_BYTES(bytes),
	(void *to, const void *array, size_t x, size_t y, size_t bytes, int kind),
	(to, array, x, y, bytes, kind))
HIP_SPT(hipMemcpy2DToArray, hipMemcpy, TO_DEVICE_ARG(NULL, kind, from), RET_OR_BYTES(width *height),
	(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
	 size_t height, int kind),
	(array, x, y, from, pitch, width, height, kind))
HIP_SPT(hipMemcpy2DToArrayAsync, hipMemcpyAsync, TO_DEVICE_ARG(stream, kind, from),
	RET_OR_BYTES(width *height),
	(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
	 size_t height, int kind, void *stream),
	(array, x, y, from, pitch, width, height, kind, stream))
HIP_SPT(hipMemcpy2DFromArray, hipMemcpy, TO_HOST_ARG(NULL, kind, to), RET_OR_BYTES(width *height),
	(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height,
	 int kind),
	(to, pitch, array, x, y, width, height, kind))
HIP_SPT(hipMemcpy2DFromArrayAsync, hipMemcpyAsync, TO_HOST_ARG(stream, kind, to),
	RET_OR_BYTES(width *height),
	(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height,
	 int kind, void *stream),
	(to, pitch, array, x, y, width, height, kind, stream))
HIP(hipMemcpy2DArrayToArray, hipMemcpy, ON_DEVICE_ARG(NULL), RET_OR_BYTES(width *height),
    (void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
     size_t width, size_t height, int kind),
    (to, to_x, to_y, from, from_x, from_y, width, height, kind))
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

/* An array's side has no pointer, and its extent counts elements: then the bytes are not known.
 * struct hipMemcpy3DParms has the fields of CUDA's. */
static uint64_t bytes_3d(const struct sp_cuda_copy_3d *p)
{
	return p->source_array || p->target_array
		       ? 0
		       : p->extent.width * p->extent.height * p->extent.depth;
}

HIP_SPT(hipMemcpy3D, hipMemcpy,
	p ? copy_arg(NULL, p->kind, p->target.pointer, p->source.pointer) : 0,
	RET_OR_BYTES(bytes_3d(p)), (const struct sp_cuda_copy_3d *p), (p))
HIP_SPT(hipMemcpy3DAsync, hipMemcpyAsync,
	p ? copy_arg(stream, p->kind, p->target.pointer, p->source.pointer) : 0,
	RET_OR_BYTES(bytes_3d(p)), (const struct sp_cuda_copy_3d *p, void *stream), (p, stream))
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
HIP_SPT(hipMemset, hipMemset, 0, RET_OR_BYTES(bytes), (void *to, int byte, size_t bytes),
	(to, byte, bytes))
HIP_SPT(hipMemsetAsync, hipMemsetAsync, ON(stream), RET_OR_BYTES(bytes),
	(void *to, int byte, size_t bytes, void *stream), (to, byte, bytes, stream))
HIP_SPT(hipMemset2D, hipMemset, 0, RET_OR_BYTES(width *height),
	(void *to, size_t pitch, int byte, size_t width, size_t height),
	(to, pitch, byte, width, height))
HIP_SPT(hipMemset2DAsync, hipMemsetAsync, ON(stream), RET_OR_BYTES(width *height),
	(void *to, size_t pitch, int byte, size_t width, size_t height, void *stream),
	(to, pitch, byte, width, height, stream))
HIP_SPT(hipMemset3D, hipMemset, 0, RET_OR_BYTES(extent.width *extent.height *extent.depth),
	(struct sp_cuda_pitched to, int byte, struct sp_cuda_extent extent), (to, byte, extent))
HIP_SPT(hipMemset3DAsync, hipMemsetAsync, ON(stream),
	RET_OR_BYTES(extent.width *extent.height *extent.depth),
	(struct sp_cuda_pitched to, int byte, struct sp_cuda_extent extent, void *stream),
	(to, byte, extent, stream))
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

/* Waits, and what orders streams. hipErrorNotReady has CUDA's number. */
#define RET_QUERIED (ret == SP_CUDA_NOT_READY ? 1 : RET_STATUS)

HIP_SPT(hipStreamSynchronize, hipStreamSynchronize, ON(stream), RET_STATUS, (void *stream),
	(stream))
HIP(hipDeviceSynchronize, hipDeviceSynchronize, 0, RET_STATUS, (void), ())
HIP(hipCtxSynchronize, hipDeviceSynchronize, 0, RET_STATUS, (void), ())
HIP(hipEventSynchronize, hipEventSynchronize, 0, RET_STATUS, (void *event), (event))
HIP_SPT(hipStreamQuery, hipStreamQuery, ON(stream), RET_QUERIED, (void *stream), (stream))
HIP(hipEventQuery, hipEventQuery, 0, RET_QUERIED, (void *event), (event))
HIP_SPT(hipEventRecord, hipEventRecord, ON(stream), RET_STATUS, (void *event, void *stream),
	(event, stream))
HIP(hipEventRecordWithFlags, hipEventRecord, ON(stream), RET_STATUS,
    (void *event, void *stream, unsigned flags), (event, stream, flags))
HIP_SPT(hipStreamWaitEvent, hipStreamWaitEvent, ON(stream), RET_STATUS,
	(void *stream, void *event, unsigned flags), (stream, event, flags))
HIP_SPT(hipLaunchHostFunc, hipLaunchHostFunc, ON(stream), RET_STATUS,
	(void *stream, void (*function)(void *), void *data), (stream, function, data))
HIP_SPT(hipStreamAddCallback, hipLaunchHostFunc, ON(stream), RET_STATUS,
	(void *stream, void (*function)(void *, int, void *), void *data, unsigned flags),
	(stream, function, data, flags))
HIP(hipSignalExternalSemaphoresAsync, hipSignalExternalSemaphoresAsync, ON(stream), RET_STATUS,
    (const void *semaphores, const void *what, unsigned count, void *stream),
    (semaphores, what, count, stream))
HIP(hipWaitExternalSemaphoresAsync, hipWaitExternalSemaphoresAsync, ON(stream), RET_STATUS,
    (const void *semaphores, const void *what, unsigned count, void *stream),
    (semaphores, what, count, stream))
HIP(hipStreamAttachMemAsync, hipStreamAttachMemAsync, ON(stream), RET_STATUS,
    (void *stream, void *address, size_t bytes, unsigned flags), (stream, address, bytes, flags))

/* Graphs */
HIP(hipGraphInstantiate, hipGraphInstantiate, 0, RET_STATUS,
    (void **instance, void *graph, void **failed, char *log, size_t log_bytes),
    (instance, graph, failed, log, log_bytes))
HIP(hipGraphInstantiateWithFlags, hipGraphInstantiate, 0, RET_STATUS,
    (void **instance, void *graph, unsigned long long flags), (instance, graph, flags))
HIP(hipGraphInstantiateWithParams, hipGraphInstantiate, 0, RET_STATUS,
    (void **instance, void *graph, void *how), (instance, graph, how))
HIP(hipGraphUpload, hipGraphUpload, ON(stream), RET_STATUS, (void *instance, void *stream),
    (instance, stream))
HIP(hipGraphExecUpdate, hipGraphExecUpdate, 0, RET_STATUS,
    (void *instance, void *graph, void **failed, void *result), (instance, graph, failed, result))
HIP_SPT(hipStreamBeginCapture, hipStreamBeginCapture, ON(stream), RET_STATUS,
	(void *stream, int mode), (stream, mode))
HIP(hipStreamBeginCaptureToGraph, hipStreamBeginCapture, ON(stream), RET_STATUS,
    (void *stream, void *graph, const void *dependencies, const void *data, size_t count, int mode),
    (stream, graph, dependencies, data, count, mode))
HIP_SPT(hipStreamEndCapture, hipStreamEndCapture, ON(stream), RET_STATUS,
	(void *stream, void **graph), (stream, graph))

/* Ends of streams and contexts */
HIP(hipStreamDestroy, hipStreamDestroy, ON(stream), RET_STATUS, (void *stream), (stream))
HIP(hipDeviceReset, hipDeviceReset, 0, RET_STATUS, (void), ())

/* Memory */
#define RET_MADE(what, address, bytes)                                                             \
	sp_cuda_memory_made(&call, SP_CUDA_##what, ret, ret ? 0 : (uintptr_t) * (address), bytes)
#define FREED(what, address) sp_cuda_memory_freed(SP_CUDA_##what, (uintptr_t)(address))

HIP(hipMalloc, hipMalloc, 0, RET_MADE(DEVICE, address, bytes), (void **address, size_t bytes),
    (address, bytes))
HIP(hipExtMallocWithFlags, hipMalloc, 0, RET_MADE(DEVICE, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipMallocManaged, hipMalloc, 0, RET_MADE(DEVICE, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipMallocPitch, hipMalloc, 0, RET_MADE(DEVICE, address, ret ? 0 : *pitch *height),
    (void **address, size_t *pitch, size_t width, size_t height), (address, pitch, width, height))
HIP(hipMemAllocPitch, hipMalloc, 0, RET_MADE(DEVICE, address, ret ? 0 : *pitch *height),
    (void **address, size_t *pitch, size_t width, size_t height, unsigned element_bytes),
    (address, pitch, width, height, element_bytes))
HIP(hipMalloc3D, hipMalloc, 0,
    RET_MADE(DEVICE, &p->pointer, ret ? 0 : p->pitch *extent.height *extent.depth),
    (struct sp_cuda_pitched * p, struct sp_cuda_extent extent), (p, extent))
HIP(hipMallocAsync, hipMallocAsync, 0, RET_MADE(DEVICE, address, bytes),
    (void **address, size_t bytes, void *stream), (address, bytes, stream))
HIP(hipMallocFromPoolAsync, hipMallocAsync, 0, RET_MADE(DEVICE, address, bytes),
    (void **address, size_t bytes, void *pool, void *stream), (address, bytes, pool, stream))
HIP(hipHostMalloc, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipHostAlloc, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipExtHostAlloc, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipMallocHost, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes), (address, bytes))
HIP(hipMemAllocHost, hipHostMalloc, 0, RET_MADE(PINNED, address, bytes),
    (void **address, size_t bytes), (address, bytes))
HIP(hipHostRegister, hipHostRegister, 0, RET_MADE(PINNED, &address, bytes),
    (void *address, size_t bytes, unsigned flags), (address, bytes, flags))
HIP(hipMemCreate, hipMemCreate, 0,
    (ret || !call.span.thread ? (void)0
			      : sp_cuda_made(&call, (const void *)((uintptr_t)*handle << 8)),
     RET_OR_BYTES(bytes)),
    (void **handle, size_t bytes, const void *properties, unsigned long long flags),
    (handle, bytes, properties, flags))
HIP(hipFree, hipFree, FREED(DEVICE, address), RET_STATUS, (void *address), (address))
HIP(hipFreeAsync, hipFreeAsync, FREED(DEVICE, address), RET_STATUS, (void *address, void *stream),
    (address, stream))
HIP(hipHostFree, hipHostFree, FREED(PINNED, address), RET_STATUS, (void *address), (address))
HIP(hipFreeHost, hipHostFree, FREED(PINNED, address), RET_STATUS, (void *address), (address))
HIP(hipHostUnregister, hipHostUnregister, FREED(PINNED, address), RET_STATUS, (void *address),
    (address))
HIP(hipMemRelease, hipMemRelease, (uint32_t)(uintptr_t)handle, RET_STATUS, (void *handle), (handle))
HIP(hipMemPoolTrimTo, hipMemPoolTrimTo, 0, RET_STATUS, (void *pool, size_t kept_bytes),
    (pool, kept_bytes))
HIP(hipMemPoolDestroy, hipMemPoolTrimTo, 0, RET_STATUS, (void *pool), (pool))
HIP(hipDeviceGraphMemTrim, hipMemPoolTrimTo, 0, RET_STATUS, (int device), (device))

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

static struct sp_lookup_copy sp_copies_hipGetProcAddress[SP_LOOKUP_COPIES];
#define PROC_ADDRESS_WRAPPER(copy)                                                                 \
	static int sp_copy##copy##_hipGetProcAddress(const char *symbol, void **function,          \
						     int version, uint64_t flags, int *status)     \
	{                                                                                          \
		return proc_address(__atomic_load_n(&sp_copies_hipGetProcAddress[copy].function,   \
						    __ATOMIC_ACQUIRE),                             \
				    symbol, function, version, flags, status);                     \
	}
PROC_ADDRESS_WRAPPER(0)
PROC_ADDRESS_WRAPPER(1)
PROC_ADDRESS_WRAPPER(2)
SP_LOOKUP_LIST(hipGetProcAddress, SP_CUDA_HIP)
