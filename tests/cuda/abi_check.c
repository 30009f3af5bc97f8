/* preload/abi_cuda.h against the headers of the CUDA that is installed. Compiling is the test. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "preload/abi_cuda.h"

#define SAME(ours, our_field, theirs, their_field)                                                 \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) &&        \
			       sizeof(((struct ours *)0)->our_field) ==                            \
				       sizeof(((theirs *)0)->their_field),                         \
		       #their_field)
#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)

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
_Static_assert((int)SP_CUDA_TYPE_HOST == (int)CU_MEMORYTYPE_HOST, "host");
_Static_assert((int)SP_CUDA_TYPE_UNIFIED == (int)CU_MEMORYTYPE_UNIFIED, "unified");
_Static_assert((int)SP_CUDA_NOT_READY == (int)cudaErrorNotReady, "not ready");
_Static_assert((int)SP_CUDA_NOT_READY == (int)CUDA_ERROR_NOT_READY, "not ready");
_Static_assert((int)SP_CUDA_NOT_INITIALIZED == (int)CUDA_ERROR_NOT_INITIALIZED, "no driver");
