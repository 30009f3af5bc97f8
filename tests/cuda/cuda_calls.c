/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the CUDA runtime in every form that a program can, several times over, and counts by stage.
 *	cuda_calls THREADS ROUNDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "tests/cuda/count.h"

#define BYTES 4096u

static long rounds;

static const struct fake_dim3 one = {1, 1, 1}, none = {0, 1, 1};

static void kernel(void)
{
}

#if FAKE_IS_CUDA_11
#define INSTANTIATE(instance, graph) cudaGraphInstantiate(instance, graph, NULL, NULL, 0)
#define FOUND(name, function) name("cuLaunchKernel", (void **)(function), 0)
#else
#define INSTANTIATE(instance, graph) cudaGraphInstantiate(instance, graph, 0)
#define FOUND(name, function) name("cuLaunchKernel", (void **)(function), 0, &(int){0})

static void launches_that_11_lacks(struct tally_row *row, void **arguments, void *stream)
{
	struct fake_launch launch = {.grid = one, .block = one, .stream = stream};
	const void *f = (const void *)kernel;

	COUNT(row, 0, __cudaLaunchKernel((void *)kernel, one, one, arguments, 0, stream));
	COUNT(row, 0, __cudaLaunchKernel_ptsz((void *)kernel, one, one, arguments, 0, NULL));
	COUNT(row, 0, cudaLaunchKernelExC(&launch, f, arguments));
	COUNT(row, 0, cudaLaunchKernelExC_ptsz(&launch, f, arguments));
}
#endif

/* By what the runtime gives away. */
static void launches_of_driver(struct tally_row *row, void **arguments, void *stream)
{
	int (*launch[2])(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			 unsigned, void *, void **, void **);

	EXPECT(FOUND(cudaGetDriverEntryPoint, &launch[0]) == FAKE_OK);
	EXPECT(FOUND(cudaGetDriverEntryPoint_ptsz, &launch[1]) == FAKE_OK);
	for (int i = 0; i < 2; i++)
		COUNT(row, 0, launch[i](NULL, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static void launches(struct tally_row *row, void *stream)
{
	uint64_t ns = 100;
	void *arguments[] = {&ns};
	const void *f = (const void *)kernel;

	COUNT(row, 0, cudaLaunchKernel(f, one, one, arguments, 0, stream));
	COUNT(row, 0, cudaLaunchKernel_ptsz(f, one, one, arguments, 0, stream));
	COUNT(row, 0, cudaLaunchCooperativeKernel(f, one, one, arguments, 0, stream));
	COUNT(row, 0, cudaLaunchCooperativeKernel_ptsz(f, one, one, arguments, 0, stream));
	launches_of_driver(row, arguments, stream);
#if !FAKE_IS_CUDA_11
	launches_that_11_lacks(row, arguments, stream);
#endif
	COUNT_FAILURE(row, FAKE_INVALID_CONFIGURATION,
		      cudaLaunchKernel(f, none, one, arguments, 0, stream));
}

/* One direction in every form. */
static void copies(struct tally_row *row, int kind, char *to, const char *from, void *stream)
{
	struct fake_copy_3d copy = {.source = {(void *)from, 64, 64, 8},
				    .target = {to, 64, 64, 8},
				    .extent = {16, 4, 2},
				    .kind = kind};

	COUNT(row, BYTES, cudaMemcpy(to, from, BYTES, kind));
	COUNT(row, BYTES, cudaMemcpy_ptds(to, from, BYTES, kind));
	COUNT(row, BYTES, cudaMemcpyAsync(to, from, BYTES, kind, stream));
	COUNT(row, BYTES, cudaMemcpyAsync_ptsz(to, from, BYTES, kind, stream));
	COUNT(row, 32 * 4, cudaMemcpy2D(to, 64, from, 64, 32, 4, kind));
	COUNT(row, 32 * 4, cudaMemcpy2D_ptds(to, 64, from, 64, 32, 4, kind));
	COUNT(row, 32 * 4, cudaMemcpy2DAsync(to, 64, from, 64, 32, 4, kind, stream));
	COUNT(row, 32 * 4, cudaMemcpy2DAsync_ptsz(to, 64, from, 64, 32, 4, kind, stream));
	COUNT(row, 16 * 4 * 2, cudaMemcpy3D(&copy));
	COUNT(row, 16 * 4 * 2, cudaMemcpy3D_ptds(&copy));
	COUNT(row, 16 * 4 * 2, cudaMemcpy3DAsync(&copy, stream));
	COUNT(row, 16 * 4 * 2, cudaMemcpy3DAsync_ptsz(&copy, stream));
}

static void sets(struct tally_row *row, void *device, void *stream)
{
	COUNT(row, BYTES, cudaMemset(device, 1, BYTES));
	COUNT(row, BYTES, cudaMemset_ptds(device, 1, BYTES));
	COUNT(row, BYTES, cudaMemsetAsync(device, 1, BYTES, stream));
	COUNT(row, BYTES, cudaMemsetAsync_ptsz(device, 1, BYTES, stream));
}

static void waits(struct tally_row *row, struct tally_row *ordering, void *stream)
{
	void *event;
	float ms;

	EXPECT(cudaEventCreate(&event) == FAKE_OK);
	COUNT(ordering, 0, cudaEventRecord(event, stream));
	COUNT(ordering, 0, cudaStreamWaitEvent(NULL, event, 0));
	COUNT(row, 0, cudaEventSynchronize(event));
	COUNT(ordering, 0, cudaEventQuery(event));
	COUNT(ordering, 0, cudaEventRecord_ptsz(event, stream));
	COUNT(ordering, 0, cudaStreamWaitEvent_ptsz(stream, event, 0));
	COUNT(row, 0, cudaStreamSynchronize(stream));
	COUNT(row, 0, cudaStreamSynchronize_ptsz(stream));
	COUNT(ordering, 0, cudaStreamQuery(stream));
	COUNT(ordering, 0, cudaStreamQuery_ptsz(stream));
	COUNT(row, 0, cudaDeviceSynchronize());
	EXPECT(cudaEventElapsedTime(&ms, event, event) == FAKE_OK && ms == 0);
	EXPECT(cudaEventDestroy(event) == FAKE_OK);
}

static void graphs(struct tally_row *row, struct tally_row *launched, struct tally_row *ordering,
		   struct tally_row *wait, void *stream)
{
	uint64_t ns = 100;
	void *arguments[] = {&ns}, *graph, *instance;

	COUNT(ordering, 0, cudaStreamBeginCapture(stream, 0));
	COUNT(launched, 0, cudaLaunchKernel((void *)kernel, one, one, arguments, 0, stream));
	COUNT(ordering, 0, cudaStreamEndCapture(stream, &graph));
	COUNT(ordering, 0, INSTANTIATE(&instance, graph));
	COUNT(ordering, 0, cudaGraphInstantiateWithFlags(&instance, graph, 0));
	COUNT(ordering, 0, cudaGraphInstantiateWithParams(&instance, graph, &ns));
	COUNT(ordering, 0, cudaGraphInstantiateWithParams_ptsz(&instance, graph, &ns));
	COUNT(ordering, 0, cudaGraphExecUpdate(instance, graph, &ns));
	COUNT(ordering, 0, cudaGraphUpload(instance, stream));
	COUNT(ordering, 0, cudaGraphUpload_ptsz(instance, stream));
	COUNT(row, 0, cudaGraphLaunch(instance, stream));
	COUNT(row, 0, cudaGraphLaunch_ptsz(instance, stream));
	COUNT(wait, 0, cudaStreamSynchronize(stream));
}

static void host_function(void *unused)
{
	(void)unused;
}

static void callback(void *stream, int status, void *data)
{
	(void)stream, (void)status, (void)data;
}

/* Other orders on streams, and contexts that are part of a device. */
static void orders(struct tally_row *row, struct tally_row *wait, struct tally_row *freed,
		   void *stream)
{
	char *any = (char *)&rounds;

	COUNT(row, 0, cudaLaunchHostFunc(stream, host_function, NULL));
	COUNT(row, 0, cudaLaunchHostFunc_ptsz(stream, host_function, NULL));
	COUNT(row, 0, cudaStreamAddCallback(stream, callback, any, 0));
	COUNT(row, 0, cudaStreamAddCallback_ptsz(stream, callback, any, 0));
	COUNT(row, 0, cudaSignalExternalSemaphoresAsync(any, any, 1, stream));
	COUNT(row, 0, cudaSignalExternalSemaphoresAsync_ptsz(any, any, 1, stream));
	COUNT(row, 0, cudaWaitExternalSemaphoresAsync(any, any, 1, stream));
	COUNT(row, 0, cudaWaitExternalSemaphoresAsync_ptsz(any, any, 1, stream));
	COUNT(row, 0, cudaStreamAttachMemAsync(stream, any, 8, 1));
	COUNT(row, 0, cudaStreamAttachMemAsync_ptsz(stream, any, 8, 1));
	COUNT(row, 0, cudaExecutionCtxRecordEvent(any, any));
	COUNT(row, 0, cudaExecutionCtxWaitEvent(any, any));
	COUNT(wait, 0, cudaExecutionCtxSynchronize(any));
	COUNT(row, 0, cudaExecutionCtxDestroy(any));
	COUNT(freed, 0, cudaMemPoolTrimTo(any, 4096));
	COUNT_FAILURE(freed, FAKE_INVALID, cudaMemPoolTrimTo(any, 0));
}

/* The copies of CUDA 13.2. */
static void copies_of_13(struct tally_row *up, struct tally_row *other, char *to, const char *from,
			 void *stream)
{
	struct fake_copy_3d_of_13 copy = {.extent = {16, 4, 2}};

	COUNT(up, BYTES, cudaMemcpyWithAttributesAsync(to, from, BYTES, &copy, stream));
	COUNT(up, BYTES, cudaMemcpyWithAttributesAsync_ptsz(to, from, BYTES, &copy, stream));
	COUNT(other, 16 * 4 * 2, cudaMemcpy3DWithAttributesAsync(&copy, 5, stream));
	COUNT(other, 16 * 4 * 2, cudaMemcpy3DWithAttributesAsync_ptsz(&copy, 5, stream));
}

static void memory(struct tally_row *made, struct tally_row *freed, void *stream)
{
	char mine[BYTES];
	void *at;

	COUNT(made, BYTES, cudaMallocAsync(&at, BYTES, stream));
	COUNT(freed, 0, cudaFreeAsync(at, stream));
	COUNT(made, BYTES, cudaMallocAsync_ptsz(&at, BYTES, stream));
	COUNT(freed, 0, cudaFreeAsync_ptsz(at, stream));
	COUNT(made, BYTES, cudaMallocFromPoolAsync(&at, BYTES, NULL, stream));
	COUNT(freed, 0, cudaFreeAsync(at, stream));
	COUNT(made, BYTES, cudaMallocHost(&at, BYTES));
	COUNT(freed, 0, cudaFreeHost(at));
	COUNT(made, BYTES, cudaHostRegister(mine, BYTES, 0));
	COUNT(freed, 0, cudaHostUnregister(mine));
}

static void *work(void *unused)
{
	struct tally_row *launch = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");
	struct tally_row *graph = tally_row("cuda_graph_launch", "");
	struct tally_row *up = tally_row("cuda_copy_h2d", ""),
			 *down = tally_row("cuda_copy_d2h", "");
	struct tally_row *inside = tally_row("cuda_copy_d2d", "");
	struct tally_row *other = tally_row("cuda_copy_other", "");
	struct tally_row *set = tally_row("cuda_memset", ""), *made = tally_row("cuda_malloc", "");
	struct tally_row *freed = tally_row("cuda_free", ""), *order = tally_row("cuda_stream", "");
	char *device, *second, *pinned, *pageable = calloc(1, BYTES);
	void *stream;

	EXPECT(pageable && cudaStreamCreate(&stream) == FAKE_OK);
	COUNT(made, BYTES, cudaMalloc((void **)&device, BYTES));
	COUNT(made, BYTES, cudaMalloc((void **)&second, BYTES));
	COUNT(made, BYTES, cudaHostAlloc((void **)&pinned, BYTES, 0));
	for (long i = 0; i < rounds; i++) {
		launches(launch, stream);
		copies(up, FAKE_H2D, device, pageable, stream);
		copies(up, FAKE_DEFAULT, device, pinned, stream);
		copies(down, FAKE_D2H, pinned, device, stream);
		copies(down, FAKE_DEFAULT, pageable, device, stream);
		copies(inside, FAKE_D2D, second, device, stream);
		copies(inside, FAKE_DEFAULT, second, device, stream);
		copies(other, FAKE_H2H, pinned, pageable, stream);
		COUNT(inside, BYTES, cudaMemcpyPeer(second, 0, device, 0, BYTES));
		COUNT(inside, BYTES, cudaMemcpyPeerAsync(second, 0, device, 0, BYTES, stream));
		sets(set, device, stream);
		waits(sync, order, stream);
		graphs(graph, launch, order, sync, stream);
		memory(made, freed, stream);
		orders(order, sync, freed, stream);
		copies_of_13(up, other, device, pinned, stream);
	}
	COUNT(order, 0, cudaStreamDestroy(stream));
	COUNT(freed, 0, cudaFree(device));
	COUNT(freed, 0, cudaFree(second));
	COUNT(freed, 0, cudaFreeHost(pinned));
	free(pageable);
	return unused;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 1;
	pthread_t ids[64];

	rounds = argc > 2 ? atol(argv[2]) : 10;
	EXPECT(threads >= 1 && threads <= 64);
	for (long i = 0; i < threads; i++)
		EXPECT(pthread_create(&ids[i], NULL, work, NULL) == 0);
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	puts("done");
	return 0;
}
