/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/gpu_kinds.h"

#include "analyzer/metadata/stage.h"
#include "trace/events.h"
#include "trace/format.h"

unsigned sp_gpu_stall_index(uint32_t kind)
{
	switch (kind) {
	case SP_EV_cudaMalloc:
		return 0;
	case SP_EV_cudaHostAlloc:
		return 1;
	case SP_EV_cudaHostRegister:
		return 2;
	case SP_EV_cudaFree:
		return 3;
	case SP_EV_cudaFreeHost:
		return 4;
	case SP_EV_cudaHostUnregister:
		return 5;
	case SP_EV_cuMemAlloc:
		return 6;
	case SP_EV_cuMemHostAlloc:
		return 7;
	case SP_EV_cuMemHostRegister:
		return 8;
	case SP_EV_cuMemFree:
		return 9;
	case SP_EV_cuMemFreeHost:
		return 10;
	case SP_EV_cuMemHostUnregister:
		return 11;
	case SP_EV_hipMalloc:
		return 12;
	case SP_EV_hipHostMalloc:
		return 13;
	case SP_EV_hipHostRegister:
		return 14;
	case SP_EV_hipFree:
		return 15;
	case SP_EV_hipHostFree:
		return 16;
	case SP_EV_hipHostUnregister:
		return 17;
	}
	return SP_GPU_STALL_KINDS;
}

bool sp_gpu_call_is_kept(uint32_t kind)
{
	const struct sp_event_info *info = sp_event_info(kind);

	return info->name && (sp_gpu_call_is_cuda(info->class) || info->class == SP_CLASS_NCCL);
}

const char *sp_gpu_copy_host_memory(uint32_t arg)
{
	static const char *const names[] =
		{[SP_COPY_HOST_PAGEABLE] = "pageable", [SP_COPY_HOST_PINNED] = "pinned"};
	uint32_t host = sp_cuda_arg_host(arg);

	return host < sizeof(names) / sizeof(names[0]) ? names[host] : NULL;
}

bool sp_gpu_call_begins_capture(uint32_t kind)
{
	return kind == SP_EV_cudaStreamBeginCapture || kind == SP_EV_cuStreamBeginCapture ||
	       kind == SP_EV_hipStreamBeginCapture;
}

bool sp_gpu_call_ends_capture(uint32_t kind)
{
	return kind == SP_EV_cudaStreamEndCapture || kind == SP_EV_cuStreamEndCapture ||
	       kind == SP_EV_hipStreamEndCapture;
}

bool sp_gpu_call_is_cuda(uint8_t class)
{
	return sp_class_library((enum sp_class) class) == SP_LIBRARY_CUDA;
}

bool sp_gpu_call_stalls(uint32_t kind)
{
	return sp_gpu_stall_index(kind) < SP_GPU_STALL_KINDS;
}

bool sp_gpu_copy_is_synchronous(uint32_t kind)
{
	return kind == SP_EV_cudaMemcpy || kind == SP_EV_cuMemcpy || kind == SP_EV_hipMemcpy;
}

bool sp_gpu_copy_blocks(uint32_t kind, uint32_t arg)
{
	return sp_event_info(kind)->class == SP_CLASS_CUDA_COPY &&
	       sp_cuda_arg_direction(arg) == SP_COPY_TO_HOST &&
	       (sp_gpu_copy_is_synchronous(kind) || sp_cuda_arg_host(arg) == SP_COPY_HOST_PAGEABLE);
}
