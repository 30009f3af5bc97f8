/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fake_hip.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_HIP(name, parameters)                                                                 \
	hipError_t name parameters                                                                 \
	{                                                                                          \
		return hipSuccess;                                                                 \
	}
#define FAKE_HIP_BODY(name, parameters)
#include "fake_hip.def"

/* As in the real library: the module's launch calls the general one. */
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned bx,
				 unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
				 void **arguments, void **extra)
{
	return x ? hipLaunchKernel(f, (dim3){x, y, z}, (dim3){bx, by, bz}, arguments, shared,
				   stream)
		 : hipErrorInvalidValue;
}

hipError_t
_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
	hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
	size_t shared, hipStream_t stream, void **arguments, void **extra, hipEvent_t begin,
	hipEvent_t end, unsigned flags)
{
	return hipModuleLaunchKernel(f, x, y, z, bx, by, bz, (unsigned)shared, stream, arguments,
				     extra);
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
	if (!to || !from)
		return hipErrorInvalidValue;
	memmove(to, from, bytes);
	return hipSuccess;
}

hipError_t hipStreamQuery(hipStream_t stream)
{
	return hipErrorNotReady;
}

static hipError_t allocate(void **address, size_t bytes)
{
	*address = malloc(bytes);
	return *address ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipStreamCreate(hipStream_t *stream)
{
	return allocate(stream, 64);
}

hipError_t hipEventCreate(hipEvent_t *event)
{
	return allocate(event, 64);
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
	return allocate(graph, 64);
}

hipError_t hipGraphInstantiate(hipGraphExec_t *instance, hipGraph_t graph, hipGraphNode_t *failed,
			       char *log, size_t bytes)
{
	return allocate(instance, 64);
}

hipError_t hipMalloc(void **address, size_t bytes)
{
	return allocate(address, bytes);
}

hipError_t hipExtMallocWithFlags(void **address, size_t bytes, unsigned flags)
{
	return allocate(address, bytes);
}

hipError_t hipMallocAsync(void **address, size_t bytes, hipStream_t stream)
{
	return allocate(address, bytes);
}

hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags)
{
	return allocate(address, bytes);
}

hipError_t hipFree(void *address)
{
	free(address);
	return hipSuccess;
}

hipError_t hipFreeAsync(void *address, hipStream_t stream)
{
	return hipFree(address);
}

hipError_t hipHostFree(void *address)
{
	free(address);
	return hipSuccess;
}

/* The functions are those of this library, of which a process may have two copies. */
hipError_t hipGetProcAddress(const char *symbol, void **function, int version, uint64_t flags,
			     int *status)
{
	Dl_info own;
	void *library = NULL;

	if (dladdr((void *)hipGetProcAddress, &own))
		library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	*function = library ? dlvsym(library, symbol, "hip_4.2") : NULL;
	return *function ? hipSuccess : hipErrorInvalidValue;
}
