/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls HIP in the forms that programs use, several times over, and counts by stage.
 *	hip_calls ROUNDS		linked calls
 *	hip_calls ROUNDS LIBRARY	calls of what dlsym and hipGetProcAddress find
 * With HIP_HEADERS it is built by the headers of ROCm and not by ours.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HIP_HEADERS
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#else
#include "fake_hip.h"
#endif
#include "tests/cuda/count.h"

#define BYTES 4096u
#define WIDTH 32u
#define HEIGHT 4u

static const dim3 one = {1, 1, 1};

static void kernel(void)
{
}

static void launches(struct tally_row *row, hipStream_t stream)
{
	void *arguments[] = {NULL};
	const void *f = (const void *)kernel;

	COUNT(row, 0, hipLaunchKernel(f, one, one, arguments, 0, stream));
	COUNT(row, 0, hipExtLaunchKernel(f, one, one, arguments, 0, stream, NULL, NULL, 0));
	COUNT(row, 0, hipLaunchCooperativeKernel(f, one, one, arguments, 0, stream));
	COUNT(row, 0,
	      hipModuleLaunchKernel((hipFunction_t)f, 1, 1, 1, 1, 1, 1, 0, stream, arguments,
				    NULL));
	COUNT_FAILURE(row, hipErrorInvalidValue,
		      hipModuleLaunchKernel((hipFunction_t)f, 0, 1, 1, 1, 1, 1, 0, stream,
					    arguments, NULL));
#ifndef HIP_HEADERS
	COUNT(row, 0, hipLaunchKernel_spt(f, one, one, arguments, 0, NULL));
	COUNT(row, 0, hipLaunchCooperativeKernel_spt(f, one, one, arguments, 0, NULL));
	COUNT(row, 0,
	      hipModuleLaunchCooperativeKernel((hipFunction_t)f, 1, 1, 1, 1, 1, 1, 0, stream,
					       arguments));
	COUNT(row, 0,
	      _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
		      (hipFunction_t)f, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL, NULL, NULL,
		      0));
#endif
}

/* One direction. */
static void copies(struct tally_row *row, hipMemcpyKind kind, char *to, char *from,
		   hipStream_t stream)
{
	struct hipMemcpy3DParms box = {.srcPtr = {from, WIDTH, WIDTH, HEIGHT},
				       .dstPtr = {to, WIDTH, WIDTH, HEIGHT},
				       .extent = {WIDTH, HEIGHT, 2},
				       .kind = kind};

	COUNT(row, BYTES, hipMemcpy(to, from, BYTES, kind));
	COUNT(row, BYTES, hipMemcpyWithStream(to, from, BYTES, kind, stream));
	COUNT(row, BYTES, hipMemcpyAsync(to, from, BYTES, kind, stream));
	COUNT(row, WIDTH * HEIGHT, hipMemcpy2D(to, 64, from, 64, WIDTH, HEIGHT, kind));
	COUNT(row, WIDTH * HEIGHT, hipMemcpy2DAsync(to, 64, from, 64, WIDTH, HEIGHT, kind, stream));
	COUNT(row, WIDTH * HEIGHT * 2, hipMemcpy3D(&box));
	COUNT(row, WIDTH * HEIGHT * 2, hipMemcpy3DAsync(&box, stream));
}

static void copies_by_name(char *host, char *device, hipStream_t stream)
{
	struct tally_row *to_device = tally_row("cuda_copy_h2d", "");
	struct tally_row *to_host = tally_row("cuda_copy_d2h", "");
	struct tally_row *on_device = tally_row("cuda_copy_d2d", "");

	COUNT(to_device, BYTES, hipMemcpyHtoD(device, host, BYTES));
	COUNT(to_device, BYTES, hipMemcpyHtoDAsync(device, host, BYTES, stream));
	COUNT(to_host, BYTES, hipMemcpyDtoH(host, device, BYTES));
	COUNT(to_host, BYTES, hipMemcpyDtoHAsync(host, device, BYTES, stream));
	COUNT(on_device, BYTES, hipMemcpyDtoD(device, device, BYTES));
	COUNT(on_device, BYTES, hipMemcpyDtoDAsync(device, device, BYTES, stream));
	COUNT(on_device, BYTES, hipMemcpyPeer(device, 0, device, 1, BYTES));
	COUNT(on_device, BYTES, hipMemcpyPeerAsync(device, 0, device, 1, BYTES, stream));
	COUNT(to_device, BYTES,
	      hipMemcpyToSymbol((const void *)kernel, host, BYTES, 0, hipMemcpyHostToDevice));
	COUNT(to_host, BYTES,
	      hipMemcpyFromSymbol(host, (const void *)kernel, BYTES, 0, hipMemcpyDeviceToHost));
	/* By the known memory. */
	COUNT(to_device, BYTES, hipMemcpy(device, host, BYTES, hipMemcpyDefault));
	COUNT(to_host, BYTES, hipMemcpy(host, device, BYTES, hipMemcpyDefault));
	COUNT_FAILURE(to_host, hipErrorInvalidValue,
		      hipMemcpy(NULL, device, BYTES, hipMemcpyDeviceToHost));
}

static void sets(struct tally_row *row, char *device, hipStream_t stream)
{
	hipPitchedPtr box = {device, WIDTH, WIDTH, HEIGHT};
	hipExtent extent = {WIDTH, HEIGHT, 2};

	COUNT(row, BYTES, hipMemset(device, 0, BYTES));
	COUNT(row, BYTES, hipMemsetAsync(device, 0, BYTES, stream));
	COUNT(row, WIDTH * HEIGHT, hipMemset2D(device, 64, 0, WIDTH, HEIGHT));
	COUNT(row, WIDTH * HEIGHT * 2, hipMemset3D(box, 0, extent));
	COUNT(row, 2 * 100, hipMemsetD16(device, 0, 100));
	COUNT(row, 4 * 100, hipMemsetD32Async(device, 0, 100, stream));
}

static void waits(hipStream_t stream, hipEvent_t event)
{
	struct tally_row *row = tally_row("cuda_sync", ""), *order = tally_row("cuda_stream", "");

	COUNT(row, 0, hipStreamSynchronize(stream));
	COUNT(row, 0, hipDeviceSynchronize());
	COUNT(row, 0, hipCtxSynchronize());
	COUNT(row, 0, hipEventSynchronize(event));
	COUNT_FAILURE(order, hipErrorNotReady, hipStreamQuery(stream));
	COUNT(order, 0, hipEventQuery(event));
	COUNT(order, 0, hipEventRecord(event, stream));
	COUNT(order, 0, hipStreamWaitEvent(stream, event, 0));
}

static void graphs(hipStream_t stream)
{
	struct tally_row *row = tally_row("cuda_graph_launch", "");
	struct tally_row *order = tally_row("cuda_stream", "");
	hipGraph_t graph;
	hipGraphExec_t instance;

	COUNT(order, 0, hipStreamBeginCapture(stream, 0));
	COUNT(order, 0, hipStreamEndCapture(stream, &graph));
	COUNT(order, 0, hipGraphInstantiate(&instance, graph, NULL, NULL, 0));
	COUNT(row, 0, hipGraphLaunch(instance, stream));
	COUNT(row, 0, hipGraphLaunch(instance, stream));
}

static void round_of_calls(void)
{
	struct tally_row *allocations = tally_row("cuda_malloc", "");
	struct tally_row *frees = tally_row("cuda_free", "");
	static char pageable[2 * BYTES];
	void *device, *pinned, *pool;
	hipStream_t stream;
	hipEvent_t event;

	EXPECT(hipStreamCreate(&stream) == hipSuccess);
	EXPECT(hipEventCreate(&event) == hipSuccess);
	COUNT(allocations, 2 * BYTES, hipMalloc(&device, 2 * BYTES));
	COUNT(allocations, BYTES, hipMallocAsync(&pool, BYTES, stream));
	COUNT(allocations, BYTES, hipHostMalloc(&pinned, BYTES, 0));
	COUNT(allocations, BYTES, hipHostRegister(pageable, BYTES, 0));
	launches(tally_row("cuda_launch", ""), stream);
	copies(tally_row("cuda_copy_h2d", ""), hipMemcpyHostToDevice, device, pinned, stream);
	copies(tally_row("cuda_copy_d2h", ""), hipMemcpyDeviceToHost, pageable, device, stream);
	copies(tally_row("cuda_copy_d2d", ""), hipMemcpyDeviceToDevice, device, device, stream);
	copies_by_name(pageable, device, stream);
	sets(tally_row("cuda_memset", ""), device, stream);
	waits(stream, event);
	graphs(stream);
	COUNT(frees, 0, hipHostUnregister(pageable));
	COUNT(frees, 0, hipHostFree(pinned));
	COUNT(frees, 0, hipFreeAsync(pool, stream));
	COUNT(frees, 0, hipFree(device));
	COUNT(tally_row("cuda_stream", ""), 0, hipStreamDestroy(stream));
}

typedef int module_launch(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			  unsigned, hipStream_t, void **, void **);

/* As Triton does: the library is opened, and its functions are looked up by name. */
static void by_lookup(const char *path)
{
	struct tally_row *row = tally_row("cuda_launch", "");
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found = NULL;
	hipError_t (*get)(const char *, void **, int, uint64_t, int *) =
		library ? (__typeof__(get))dlsym(library, "hipGetProcAddress") : NULL;
	module_launch *launch =
		library ? (module_launch *)dlsym(library, "hipModuleLaunchKernel") : NULL;

	EXPECT(launch && get && !dlsym(library, "hipNoSuchFunction"));
	EXPECT(get("hipModuleLaunchKernel", &found, 60200, 0, NULL) == hipSuccess);
	COUNT(row, 0, launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	COUNT(row, 0, ((module_launch *)found)(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;

	while (rounds-- > 0) {
		if (argc > 2)
			by_lookup(argv[2]);
		else
			round_of_calls();
	}
	return EXIT_SUCCESS;
}
