/* SPDX-License-Identifier: Apache-2.0 */
/* preload/cuda/abi_cuda.h against the headers of the CUDA that is installed.
 * Compiling is the test. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "preload/cuda/abi_cuda.h"

#define SAME(ours, our_field, theirs, their_field)                                                 \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) &&        \
			       sizeof(((struct ours *)0)->our_field) ==                            \
				       sizeof(((theirs *)0)->their_field),                         \
		       #their_field)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)

SAME_SIZE(sp_cuda_dim3, dim3);
SAME_SIZE(sp_cuda_pitched, struct cudaPitchedPtr);
SAME_SIZE(sp_cuda_extent, struct cudaExtent);
SAME(sp_cuda_launch_config, stream, cudaLaunchConfig_t, stream);
SAME(sp_cuda_driver_launch_config, stream, CUlaunchConfig, hStream);
SAME_SIZE(sp_cuda_copy_3d, struct cudaMemcpy3DParms);
SAME(sp_cuda_copy_3d, source, struct cudaMemcpy3DParms, srcPtr);
SAME(sp_cuda_copy_3d, target_array, struct cudaMemcpy3DParms, dstArray);
SAME(sp_cuda_copy_3d, target, struct cudaMemcpy3DParms, dstPtr);
SAME(sp_cuda_copy_3d, extent, struct cudaMemcpy3DParms, extent);
SAME(sp_cuda_copy_3d, kind, struct cudaMemcpy3DParms, kind);
SAME_SIZE(sp_cuda_copy_3d_peer, struct cudaMemcpy3DPeerParms);
SAME(sp_cuda_copy_3d_peer, target_array, struct cudaMemcpy3DPeerParms, dstArray);
SAME(sp_cuda_copy_3d_peer, extent, struct cudaMemcpy3DPeerParms, extent);
#if CUDART_VERSION >= 12080
SAME_SIZE(sp_cuda_copy_3d_batch, struct cudaMemcpy3DBatchOp);
SAME(sp_cuda_copy_3d_batch, extent, struct cudaMemcpy3DBatchOp, extent);
SAME_SIZE(sp_cuda_copy_3d_batch, CUDA_MEMCPY3D_BATCH_OP);
SAME(sp_cuda_copy_3d_batch, extent, CUDA_MEMCPY3D_BATCH_OP, extent);
#endif
SAME_SIZE(sp_cuda_driver_copy_2d, CUDA_MEMCPY2D);
SAME(sp_cuda_driver_copy_2d, source_type, CUDA_MEMCPY2D, srcMemoryType);
SAME(sp_cuda_driver_copy_2d, source_host, CUDA_MEMCPY2D, srcHost);
SAME(sp_cuda_driver_copy_2d, target_type, CUDA_MEMCPY2D, dstMemoryType);
SAME(sp_cuda_driver_copy_2d, target_device, CUDA_MEMCPY2D, dstDevice);
SAME(sp_cuda_driver_copy_2d, height, CUDA_MEMCPY2D, Height);
SAME_SIZE(sp_cuda_driver_copy_3d, CUDA_MEMCPY3D);
SAME(sp_cuda_driver_copy_3d, source_type, CUDA_MEMCPY3D, srcMemoryType);
SAME(sp_cuda_driver_copy_3d, target_type, CUDA_MEMCPY3D, dstMemoryType);
SAME(sp_cuda_driver_copy_3d, target_host, CUDA_MEMCPY3D, dstHost);
SAME(sp_cuda_driver_copy_3d, depth, CUDA_MEMCPY3D, Depth);
SAME_SIZE(sp_cuda_driver_copy_3d, CUDA_MEMCPY3D_PEER);
SAME(sp_cuda_driver_copy_3d, height, CUDA_MEMCPY3D_PEER, Height);
SAME(sp_cuda_driver_copy_3d, depth, CUDA_MEMCPY3D_PEER, Depth);
_Static_assert((int)SP_CUDA_TYPE_HOST == (int)CU_MEMORYTYPE_HOST, "host");
_Static_assert((int)SP_CUDA_TYPE_UNIFIED == (int)CU_MEMORYTYPE_UNIFIED, "unified");
_Static_assert((int)SP_CUDA_NOT_READY == (int)cudaErrorNotReady, "not ready");
_Static_assert((int)SP_CUDA_NOT_READY == (int)CUDA_ERROR_NOT_READY, "not ready");
_Static_assert((int)SP_CUDA_NOT_INITIALIZED == (int)CUDA_ERROR_NOT_INITIALIZED, "no driver");

#if __has_include(<cupti.h>)
#include <cupti.h>

#include "preload/cuda/abi_cupti.h"

#define KERNEL(theirs)                                                                             \
	SAME(sp_cupti_kernel, start, theirs, start);                                               \
	SAME(sp_cupti_kernel, end, theirs, end);                                                   \
	SAME(sp_cupti_kernel, device, theirs, deviceId);                                           \
	SAME(sp_cupti_kernel, stream, theirs, streamId);                                           \
	SAME(sp_cupti_kernel, correlation, theirs, correlationId);                                 \
	SAME(sp_cupti_kernel, name, theirs, name)
#define WORK(ours, theirs)                                                                         \
	SAME(ours, bytes, theirs, bytes);                                                          \
	SAME(ours, start, theirs, start);                                                          \
	SAME(ours, end, theirs, end);                                                              \
	SAME(ours, device, theirs, deviceId);                                                      \
	SAME(ours, stream, theirs, streamId);                                                      \
	SAME(ours, correlation, theirs, correlationId)

KERNEL(CUpti_ActivityKernel4);
KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel7);
KERNEL(CUpti_ActivityKernel8);
KERNEL(CUpti_ActivityKernel9);
KERNEL(CUpti_ActivityKernel10);
WORK(sp_cupti_memcpy, CUpti_ActivityMemcpy);
WORK(sp_cupti_memcpy, CUpti_ActivityMemcpy3);
WORK(sp_cupti_memcpy, CUpti_ActivityMemcpy4);
WORK(sp_cupti_memcpy, CUpti_ActivityMemcpy5);
WORK(sp_cupti_memcpy, CUpti_ActivityMemcpy6);
SAME(sp_cupti_memcpy, direction, CUpti_ActivityMemcpy6, copyKind);
SAME(sp_cupti_memcpy, source, CUpti_ActivityMemcpy6, srcKind);
SAME(sp_cupti_memcpy, target, CUpti_ActivityMemcpy6, dstKind);
WORK(sp_cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP);
WORK(sp_cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
WORK(sp_cupti_memset, CUpti_ActivityMemset);
WORK(sp_cupti_memset, CUpti_ActivityMemset4);
SAME(sp_cupti_call_data, site, CUpti_CallbackData, callbackSite);
SAME(sp_cupti_call_data, correlation, CUpti_CallbackData, correlationId);

#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
EQUAL(SP_CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
EQUAL(SP_CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
EQUAL(SP_CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
EQUAL(SP_CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
EQUAL(SP_CUPTI_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
EQUAL(SP_CUPTI_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
EQUAL(SP_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
EQUAL(SP_CUPTI_NO_MORE, CUPTI_ERROR_MAX_LIMIT_REACHED);
EQUAL(SP_CUPTI_NOT_PERMITTED, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
EQUAL(SP_CUPTI_TAKEN, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
EQUAL(SP_CUPTI_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
EQUAL(SP_CUPTI_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);

/* Ends of preload/cuda/cupti_api.def's ranges. */
EQUAL(31, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020);
EQUAL(52, CUPTI_RUNTIME_TRACE_CBID_cudaMemset2DAsync_v3020);
EQUAL(142, CUPTI_RUNTIME_TRACE_CBID_cudaMemset3D_v3020);
EQUAL(163, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DPeerAsync_v4000);
EQUAL(211, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
EQUAL(236, CUPTI_RUNTIME_TRACE_CBID_cudaMemset2DAsync_ptsz_v7000);
EQUAL(250, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DPeerAsync_ptsz_v7000);
EQUAL(270, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000);
EQUAL(312, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000);
EQUAL(431, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060);
EQUAL(506, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000);
EQUAL(43, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD);
EQUAL(81, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32);
EQUAL(226, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async);
EQUAL(293, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2);
EQUAL(307, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
EQUAL(433, CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async_ptsz);
EQUAL(442, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
EQUAL(478, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
EQUAL(515, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
EQUAL(653, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
#if CUDART_VERSION >= 13020
EQUAL(557, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DWithAttributesAsync_ptsz_v13020);
EQUAL(840, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync_ptsz);
#endif
#endif
