/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE table of the fake driver's functions: FAKE_DRIVER(name, exported, per_thread, parameters).
 *   name        what cuGetProcAddress is asked for
 *   exported    what the library exports, the current ABI
 *   per_thread  its form for per-thread default streams, or the same where there is none
 */
#define FAKE_STREAM_DRIVER(X)                                                                      \
	X(cuLaunchKernel, cuLaunchKernel, cuLaunchKernel_ptsz,                                     \
	  (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
	   unsigned shared, void *stream, void **arguments, void **extra))                         \
	X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz,    \
	  (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
	   unsigned shared, void *stream, void **arguments))                                       \
	X(cuLaunchKernelEx, cuLaunchKernelEx, cuLaunchKernelEx_ptsz,                               \
	  (const struct fake_driver_launch *launch, void *f, void **arguments, void **extra))      \
	X(cuLaunchHostFunc, cuLaunchHostFunc, cuLaunchHostFunc_ptsz,                               \
	  (void *stream, void (*function)(void *), void *data))                                    \
	X(cuStreamAddCallback, cuStreamAddCallback, cuStreamAddCallback_ptsz,                      \
	  (void *stream, void (*function)(void *, int, void *), void *data, unsigned flags))       \
	X(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync,                        \
	  cuSignalExternalSemaphoresAsync_ptsz,                                                    \
	  (const void *semaphores, const void *what, unsigned count, void *stream))                \
	X(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync,                            \
	  cuWaitExternalSemaphoresAsync_ptsz,                                                      \
	  (const void *semaphores, const void *what, unsigned count, void *stream))                \
	X(cuStreamAttachMemAsync, cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz,             \
	  (void *stream, uint64_t address, size_t bytes, unsigned flags))                          \
	X(cuGraphUpload, cuGraphUpload, cuGraphUpload_ptsz, (void *graph, void *stream))           \
	X(cuMemcpyWithAttributesAsync, cuMemcpyWithAttributesAsync,                                \
	  cuMemcpyWithAttributesAsync_ptsz,                                                        \
	  (uint64_t to, uint64_t from, size_t bytes, void *attributes, void *stream))              \
	X(cuMemcpy3DWithAttributesAsync, cuMemcpy3DWithAttributesAsync,                            \
	  cuMemcpy3DWithAttributesAsync_ptsz,                                                      \
	  (const struct fake_copy_3d_of_13 *copy, unsigned long long flags, void *stream))         \
	X(cuGraphLaunch, cuGraphLaunch, cuGraphLaunch_ptsz, (void *graph, void *stream))           \
	X(cuStreamBeginCapture, cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz,             \
	  (void *stream, int mode))                                                                \
	X(cuStreamEndCapture, cuStreamEndCapture, cuStreamEndCapture_ptsz,                         \
	  (void *stream, void **graph))                                                            \
	X(cuMemcpy, cuMemcpy, cuMemcpy_ptds, (uint64_t to, uint64_t from, size_t bytes))           \
	X(cuMemcpyAsync, cuMemcpyAsync, cuMemcpyAsync_ptsz,                                        \
	  (uint64_t to, uint64_t from, size_t bytes, void *stream))                                \
	X(cuMemcpyHtoD, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds,                                     \
	  (uint64_t to, const void *from, size_t bytes))                                           \
	X(cuMemcpyDtoH, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds,                                     \
	  (void *to, uint64_t from, size_t bytes))                                                 \
	X(cuMemcpyDtoD, cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds,                                     \
	  (uint64_t to, uint64_t from, size_t bytes))                                              \
	X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz,                      \
	  (uint64_t to, const void *from, size_t bytes, void *stream))                             \
	X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz,                      \
	  (void *to, uint64_t from, size_t bytes, void *stream))                                   \
	X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz,                      \
	  (uint64_t to, uint64_t from, size_t bytes, void *stream))                                \
	X(cuMemsetD8, cuMemsetD8_v2, cuMemsetD8_v2_ptds,                                           \
	  (uint64_t to, unsigned char value, size_t count))                                        \
	X(cuMemsetD8Async, cuMemsetD8Async, cuMemsetD8Async_ptsz,                                  \
	  (uint64_t to, unsigned char value, size_t count, void *stream))                          \
	X(cuMemsetD32Async, cuMemsetD32Async, cuMemsetD32Async_ptsz,                               \
	  (uint64_t to, unsigned value, size_t count, void *stream))                               \
	X(cuStreamSynchronize, cuStreamSynchronize, cuStreamSynchronize_ptsz, (void *stream))      \
	X(cuStreamQuery, cuStreamQuery, cuStreamQuery_ptsz, (void *stream))                        \
	X(cuStreamWaitEvent, cuStreamWaitEvent, cuStreamWaitEvent_ptsz,                            \
	  (void *stream, void *event, unsigned flags))                                             \
	X(cuEventRecord, cuEventRecord, cuEventRecord_ptsz, (void *event, void *stream))           \
	X(cuMemAllocAsync, cuMemAllocAsync, cuMemAllocAsync_ptsz,                                  \
	  (uint64_t * pointer, size_t bytes, void *stream))                                        \
	X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz,          \
	  (uint64_t * pointer, size_t bytes, void *pool, void *stream))                            \
	X(cuMemFreeAsync, cuMemFreeAsync, cuMemFreeAsync_ptsz, (uint64_t pointer, void *stream))

#define FAKE_PLAIN_DRIVER(X)                                                                       \
	X(cuCtxGetCurrent, cuCtxGetCurrent, cuCtxGetCurrent, (void **context))                     \
	X(cuCtxSetCurrent, cuCtxSetCurrent, cuCtxSetCurrent, (void *context))                      \
	X(cuCtxPushCurrent, cuCtxPushCurrent_v2, cuCtxPushCurrent_v2, (void *context))             \
	X(cuCtxPopCurrent, cuCtxPopCurrent_v2, cuCtxPopCurrent_v2, (void **context))               \
	X(cuCtxGetDevice, cuCtxGetDevice, cuCtxGetDevice, (int *device))                           \
	X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,            \
	  (void **context, int device))                                                            \
	X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease_v2,   \
	  (int device))                                                                            \
	X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset_v2,         \
	  (int device))                                                                            \
	X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState,      \
	  (int device, unsigned *flags, int *active))                                              \
	X(cuCtxCreate, cuCtxCreate_v2, cuCtxCreate_v2,                                             \
	  (void **context, unsigned flags, int device))                                            \
	X(cuCtxDestroy, cuCtxDestroy_v2, cuCtxDestroy_v2, (void *context))                         \
	X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,                    \
	  cuThreadExchangeStreamCaptureMode, (int *mode))                                          \
	X(cuStreamIsCapturing, cuStreamIsCapturing, cuStreamIsCapturing,                           \
	  (void *stream, int *status))                                                             \
	X(cuGraphExecUpdate, cuGraphExecUpdate_v2, cuGraphExecUpdate_v2,                           \
	  (void *instance, void *graph, void *result))                                             \
	X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams,                              \
	  cuGraphInstantiateWithParams, (void **instance, void *graph, void *how))                 \
	X(cuCtxRecordEvent, cuCtxRecordEvent, cuCtxRecordEvent, (void *context, void *event))      \
	X(cuCtxWaitEvent, cuCtxWaitEvent, cuCtxWaitEvent, (void *context, void *event))            \
	X(cuGreenCtxDestroy, cuGreenCtxDestroy, cuGreenCtxDestroy, (void *context))                \
	X(cuMemPoolTrimTo, cuMemPoolTrimTo, cuMemPoolTrimTo, (void *pool, size_t kept_bytes))      \
	X(cuInit, cuInit, cuInit, (unsigned flags))                                                \
	X(cuDeviceGetCount, cuDeviceGetCount, cuDeviceGetCount, (int *count))                      \
	X(cuGraphInstantiate, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,            \
	  (void **instance, void *graph, unsigned long long flags))                                \
	X(cuStreamCreate, cuStreamCreate, cuStreamCreate, (void **stream, unsigned flags))         \
	X(cuStreamDestroy, cuStreamDestroy_v2, cuStreamDestroy_v2, (void *stream))                 \
	X(cuCtxSynchronize, cuCtxSynchronize, cuCtxSynchronize, (void))                            \
	X(cuEventCreate, cuEventCreate, cuEventCreate, (void **event, unsigned flags))             \
	X(cuEventDestroy, cuEventDestroy_v2, cuEventDestroy_v2, (void *event))                     \
	X(cuEventSynchronize, cuEventSynchronize, cuEventSynchronize, (void *event))               \
	X(cuEventQuery, cuEventQuery, cuEventQuery, (void *event))                                 \
	X(cuEventElapsedTime, cuEventElapsedTime, cuEventElapsedTime,                              \
	  (float *ms, void *from, void *to))                                                       \
	X(cuMemAlloc, cuMemAlloc_v2, cuMemAlloc_v2, (uint64_t * pointer, size_t bytes))            \
	X(cuMemFree, cuMemFree_v2, cuMemFree_v2, (uint64_t pointer))                               \
	X(cuMemHostAlloc, cuMemHostAlloc, cuMemHostAlloc,                                          \
	  (void **pointer, size_t bytes, unsigned flags))                                          \
	X(cuMemFreeHost, cuMemFreeHost, cuMemFreeHost, (void *pointer))                            \
	X(cuMemHostRegister, cuMemHostRegister_v2, cuMemHostRegister_v2,                           \
	  (void *pointer, size_t bytes, unsigned flags))                                           \
	X(cuMemHostUnregister, cuMemHostUnregister, cuMemHostUnregister, (void *pointer))
