/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUDA's ABI that the hooks use; the build needs no header of CUDA. LP64, from CUDA
 * 13.0's driver_types.h, vector_types.h and cuda.h; the used fields are the same since CUDA 11.0.
 * tests/cuda compares them with the installed headers.
 */
#ifndef STAGEPROF_PRELOAD_ABI_CUDA_H
#define STAGEPROF_PRELOAD_ABI_CUDA_H

#include <stddef.h>
#include <stdint.h>

/* The newest CUDA whose cudaTypedefs.h the driver's ABIs were compared with
 * (tests/cuda/entry_points.py). Read its changes before you raise this number. */
#define SP_CUDA_CHECKED 13020

/* The runtime and the driver use the same number. */
#define SP_CUDA_NOT_READY 600
/* cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED */
#define SP_CUDA_NOT_INITIALIZED 3

/* Handles of the default streams; NULL is one of the two. */
#define SP_CUDA_STREAM_LEGACY 1u
#define SP_CUDA_STREAM_PER_THREAD 2u
/* cudaStreamCaptureModeRelaxed */
#define SP_CUDA_CAPTURE_RELAXED 2
/* cudaErrorStreamCaptureWrongThread: the capture goes on */
#define SP_CUDA_WRONG_THREAD 908
/* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
#define SP_CUDA_LOOKUP_PER_THREAD 2u

struct sp_cuda_dim3 {
	unsigned x, y, z;
};

/* The same, only passed on in two registers: the compiler leaves it there. */
struct sp_cuda_dim3_passed {
	uint64_t xy, z;
};

/* cudaLaunchConfig_t; what follows is not read. */
struct sp_cuda_launch_config {
	struct sp_cuda_dim3 grid, block;
	size_t shared_bytes;
	void *stream;
};

/* CUlaunchConfig; what follows is not read. */
struct sp_cuda_driver_launch_config {
	unsigned grid[3], block[3], shared_bytes;
	void *stream;
};

struct sp_cuda_pitched {
	void *pointer;
	size_t pitch, width, height;
};

struct sp_cuda_extent {
	size_t width, height, depth; /* width: bytes, but elements where an array takes part */
};

/* cudaMemcpy3DParms */
struct sp_cuda_copy_3d {
	void *source_array;
	size_t source_position[3];
	struct sp_cuda_pitched source;
	void *target_array;
	size_t target_position[3];
	struct sp_cuda_pitched target;
	struct sp_cuda_extent extent;
	int kind;
};

/* cudaMemcpy3DPeerParms */
struct sp_cuda_copy_3d_peer {
	void *source_array;
	size_t source_position[3];
	struct sp_cuda_pitched source;
	int source_device;
	void *target_array;
	size_t target_position[3];
	struct sp_cuda_pitched target;
	int target_device;
	struct sp_cuda_extent extent;
};

/* cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP; what they copy from and to is not read. */
struct sp_cuda_copy_3d_batch {
	uint64_t source[5], target[5];
	struct sp_cuda_extent extent;
	int order;
	unsigned flags;
};

/* CUmemorytype */
enum sp_cuda_memory_type {
	SP_CUDA_TYPE_HOST = 1,
	SP_CUDA_TYPE_DEVICE = 2,
	SP_CUDA_TYPE_ARRAY = 3,
	SP_CUDA_TYPE_UNIFIED = 4,
};

/* CUDA_MEMCPY2D_v2 */
struct sp_cuda_driver_copy_2d {
	size_t source_x_bytes, source_y;
	unsigned source_type;
	const void *source_host;
	uint64_t source_device;
	void *source_array;
	size_t source_pitch;
	size_t target_x_bytes, target_y;
	unsigned target_type;
	void *target_host;
	uint64_t target_device;
	void *target_array;
	size_t target_pitch;
	size_t width_bytes, height;
};

/* CUDA_MEMCPY3D_v2 */
struct sp_cuda_driver_copy_3d {
	size_t source_x_bytes, source_y, source_z, source_lod;
	unsigned source_type;
	const void *source_host;
	uint64_t source_device;
	void *source_array, *reserved0;
	size_t source_pitch, source_height;
	size_t target_x_bytes, target_y, target_z, target_lod;
	unsigned target_type;
	void *target_host;
	uint64_t target_device;
	void *target_array, *reserved1;
	size_t target_pitch, target_height;
	size_t width_bytes, height, depth;
};

#endif
