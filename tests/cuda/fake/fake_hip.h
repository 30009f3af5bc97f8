/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP as programs see it, for tests: libamdhip64.so.6 of a device that is the host's memory and
 * works at once. Prototypes: hip_runtime_api.h of ROCm 6.2. Functions that read a result have a
 * body in fake_hip.c; the others return success.
 */
#ifndef FAKE_HIP_H
#define FAKE_HIP_H

#include <stddef.h>
#include <stdint.h>

typedef int hipError_t, hipMemcpyKind, hipStreamCaptureMode;
typedef void *hipStream_t, *hipEvent_t, *hipGraph_t, *hipGraphExec_t, *hipFunction_t, *hipArray_t,
	*hipMemPool_t, *hipDeviceptr_t, *hipGraphNode_t, *hipMemGenericAllocationHandle_t;

enum { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorNotReady = 600 };
enum {
	hipMemcpyHostToHost,
	hipMemcpyHostToDevice,
	hipMemcpyDeviceToHost,
	hipMemcpyDeviceToDevice,
	hipMemcpyDefault
};

typedef struct dim3 {
	uint32_t x, y, z;
} dim3;

typedef struct hipExtent {
	size_t width, height, depth;
} hipExtent;

typedef struct hipPitchedPtr {
	void *ptr;
	size_t pitch, xsize, ysize;
} hipPitchedPtr;

typedef struct hipMemcpy3DParms {
	hipArray_t srcArray;
	struct {
		size_t x, y, z;
	} srcPos;
	hipPitchedPtr srcPtr;
	hipArray_t dstArray;
	struct {
		size_t x, y, z;
	} dstPos;
	hipPitchedPtr dstPtr;
	hipExtent extent;
	hipMemcpyKind kind;
} hipMemcpy3DParms;

#define FAKE_HIP(name, parameters) hipError_t name parameters;
#define FAKE_HIP_BODY(name, parameters) hipError_t name parameters;
#include "fake_hip.def"
#undef FAKE_HIP
#undef FAKE_HIP_BODY

#endif
