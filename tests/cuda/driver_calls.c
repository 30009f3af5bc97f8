/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_calls ROUNDS: reaches the driver by dlopen, dlsym and cuGetProcAddress, as Triton and
 * libraries with a private static runtime do. No runtime is linked. Counts its calls by stage.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_driver.h"
#include "tests/cuda/count.h"

#define BYTES 4096u

#define POINTER(name, exported, per_thread, parameters) int(*name) parameters;
struct driver {
	FAKE_STREAM_DRIVER(POINTER) FAKE_PLAIN_DRIVER(POINTER)
};

static void *library;

static void by_dlsym(struct driver *driver)
{
#define FIND(name, exported, per_thread, parameters)                                               \
	EXPECT((driver->name = (int(*) parameters)dlsym(library, #exported)) != NULL);
	FAKE_STREAM_DRIVER(FIND) FAKE_PLAIN_DRIVER(FIND)
}

static void by_dlsym_per_thread(struct driver *driver)
{
#define FIND_PER_THREAD(name, exported, per_thread, parameters)                                    \
	EXPECT((driver->name = (int(*) parameters)dlsym(library, #per_thread)) != NULL);
	FAKE_STREAM_DRIVER(FIND_PER_THREAD) FAKE_PLAIN_DRIVER(FIND_PER_THREAD)
}

static int (*get)(const char *, void **, int, uint64_t, int *);

static void *got_of(const char *name, int version, uint64_t flags)
{
	void *function;
	int status;

	EXPECT(get(name, &function, version, flags, &status) == FAKE_OK && status == 0);
	return function;
}

static void *got(const char *name, uint64_t flags)
{
	return got_of(name, 13020, flags);
}

static void by_address(struct driver *driver, uint64_t flags)
{
#define GET(name, exported, per_thread, parameters)                                                \
	driver->name = (int(*) parameters)got(#name, flags);
	FAKE_STREAM_DRIVER(GET) FAKE_PLAIN_DRIVER(GET)
}

static void launches(const struct driver *d, void *stream)
{
	struct tally_row *row = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");
	struct fake_driver_launch launch = {.grid = {1, 1, 1},
					    .block = {1, 1, 1},
					    .stream = stream};
	struct tally_row *order = tally_row("cuda_stream", ""), *graphs;
	void *graph, *instance, *event;

	COUNT(row, 0, d->cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	COUNT(row, 0, d->cuLaunchKernelEx(&launch, NULL, NULL, NULL));
	COUNT(row, 0, d->cuLaunchCooperativeKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL));
	tally_begin(row);
	EXPECT(d->cuLaunchKernel(NULL, 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) == FAKE_INVALID);
	tally_end(row, 0);
	graphs = tally_row("cuda_graph_launch", "");
	COUNT(order, 0, d->cuStreamBeginCapture(stream, 0));
	COUNT(row, 0, d->cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	COUNT(order, 0, d->cuStreamEndCapture(stream, &graph));
	COUNT(order, 0, d->cuGraphInstantiate(&instance, graph, 0));
	COUNT(order, 0, d->cuGraphInstantiateWithParams(&instance, graph, &graph));
	COUNT(order, 0, d->cuGraphExecUpdate(instance, graph, &graph));
	COUNT(order, 0, d->cuGraphUpload(instance, stream));
	COUNT(graphs, 0, d->cuGraphLaunch(instance, stream));
	EXPECT(d->cuEventCreate(&event, 0) == FAKE_OK);
	COUNT(order, 0, d->cuEventRecord(event, stream));
	COUNT(sync, 0, d->cuEventSynchronize(event));
	COUNT(order, 0, d->cuEventQuery(event));
	COUNT(order, 0, d->cuStreamWaitEvent(stream, event, 0));
	COUNT(sync, 0, d->cuStreamSynchronize(stream));
	COUNT(order, 0, d->cuStreamQuery(stream));
	COUNT(sync, 0, d->cuCtxSynchronize());
	EXPECT(d->cuEventDestroy(event) == FAKE_OK);
}

static void callback(void *stream, int status, void *data)
{
	(void)stream, (void)status, (void)data;
}

static void orders(const struct driver *d, void *stream)
{
	struct tally_row *row = tally_row("cuda_stream", "");
	struct fake_copy_3d_of_13 copy = {.extent = {16, 4, 2}};
	char host[64] = "";

	COUNT(row, 0, d->cuStreamAddCallback(stream, callback, host, 0));
	COUNT(row, 0, d->cuSignalExternalSemaphoresAsync(host, host, 1, stream));
	COUNT(row, 0, d->cuWaitExternalSemaphoresAsync(host, host, 1, stream));
	COUNT(row, 0, d->cuStreamAttachMemAsync(stream, (uint64_t)host, 8, 1));
	COUNT(row, 0, d->cuCtxRecordEvent(host, host));
	COUNT(row, 0, d->cuCtxWaitEvent(host, host));
	COUNT(row, 0, d->cuGreenCtxDestroy(host));
	COUNT(tally_row("cuda_free", ""), 0, d->cuMemPoolTrimTo(host, 4096));
	COUNT(tally_row("cuda_copy_other", ""), 16 * 4 * 2,
	      d->cuMemcpy3DWithAttributesAsync(&copy, 5, stream));
}

static void memory(const struct driver *d, void *stream)
{
	struct tally_row *made = tally_row("cuda_malloc", ""), *freed = tally_row("cuda_free", "");
	struct tally_row *up = tally_row("cuda_copy_h2d", ""),
			 *down = tally_row("cuda_copy_d2h", "");
	struct tally_row *inside = tally_row("cuda_copy_d2d", ""),
			 *set = tally_row("cuda_memset", "");
	uint64_t device, second;
	char host[BYTES];
	void *pinned;

	memset(host, 0, sizeof(host));
	COUNT(made, BYTES, d->cuMemAlloc(&device, BYTES));
	COUNT(made, BYTES, d->cuMemAllocAsync(&second, BYTES, stream));
	COUNT(made, BYTES, d->cuMemHostAlloc(&pinned, BYTES, 0));
	COUNT(up, BYTES, d->cuMemcpyHtoD(device, host, BYTES));
	COUNT(up, BYTES, d->cuMemcpyHtoDAsync(device, pinned, BYTES, stream));
	COUNT(up, BYTES, d->cuMemcpy(device, (uint64_t)host, BYTES));
	COUNT(up, BYTES,
	      d->cuMemcpyWithAttributesAsync(device, (uint64_t)pinned, BYTES, &second, stream));
	COUNT(down, BYTES, d->cuMemcpyDtoH(host, device, BYTES));
	COUNT(down, BYTES, d->cuMemcpyDtoHAsync(pinned, device, BYTES, stream));
	COUNT(down, BYTES, d->cuMemcpyAsync((uint64_t)pinned, device, BYTES, stream));
	COUNT(inside, BYTES, d->cuMemcpyDtoD(second, device, BYTES));
	COUNT(inside, BYTES, d->cuMemcpyDtoDAsync(second, device, BYTES, stream));
	COUNT(set, BYTES, d->cuMemsetD8(device, 0, BYTES));
	COUNT(set, BYTES, d->cuMemsetD32Async(device, 0, BYTES / 4, stream));
	COUNT(tally_row("cuda_sync", ""), 0, d->cuStreamSynchronize(stream));
	COUNT(freed, 0, d->cuMemFreeHost(pinned));
	COUNT(freed, 0, d->cuMemFreeAsync(second, stream));
	COUNT(freed, 0, d->cuMemFree(device));
}

/* Two copies in one call, by the two ABIs that the function has had. */
static void batches(const struct driver *d, void *stream)
{
	__typeof__(&cuMemcpyBatchAsync) of_12 =
		(__typeof__(of_12))got_of("cuMemcpyBatchAsync", 12080, 0);
	__typeof__(&cuMemcpyBatchAsync_v2) of_13 = (__typeof__(of_13))got("cuMemcpyBatchAsync", 0);
	__typeof__(of_13) exported = (__typeof__(of_13))dlsym(library, "cuMemcpyBatchAsync_v2");
	struct tally_row *up = tally_row("cuda_copy_h2d", "");
	static char host[BYTES];
	size_t sizes[2] = {BYTES / 2, BYTES / 4}, failed;
	uint64_t to[2], from[2] = {(uint64_t)host, (uint64_t)host + BYTES / 2}, device;

	EXPECT((void *)of_12 != (void *)of_13);
	COUNT(tally_row("cuda_malloc", ""), BYTES, d->cuMemAlloc(&device, BYTES));
	to[0] = device;
	to[1] = device + BYTES / 2;
	COUNT(up, BYTES / 4 * 3, of_12(to, from, sizes, 2, NULL, NULL, 0, &failed, stream));
	EXPECT(failed == SIZE_MAX);
	COUNT(up, BYTES / 4 * 3, of_13(to, from, sizes, 2, NULL, NULL, 0, stream));
	COUNT(up, BYTES / 4 * 3, exported(to, from, sizes, 2, NULL, NULL, 0, stream));
	COUNT(tally_row("cuda_free", ""), 0, d->cuMemFree(device));
}

static void nothing(void *unused)
{
	(void)unused;
}

/* The function of CUDA 13.1 has one parameter more, and one name with the other. */
static void host_functions(void *stream)
{
	unsigned (*mode)(void) = (unsigned (*)(void))dlsym(library, "cuFakeHostMode");
	struct tally_row *row = tally_row("cuda_stream", "");

	EXPECT(mode);
	for (unsigned form = 0; form < 2; form++) {
		uint64_t flags = form ? FAKE_PER_THREAD : 0;
		int (*of_13_0)(void *, void (*)(void *), void *) =
			(__typeof__(of_13_0))got_of("cuLaunchHostFunc", 13009, flags);
		__typeof__(&cuLaunchHostFunc_v2) of_13_1 =
			(__typeof__(of_13_1))got_of("cuLaunchHostFunc", 13010, flags);
		__typeof__(of_13_1) exported =
			(__typeof__(of_13_1))dlsym(library, form ? "cuLaunchHostFunc_v2_ptsz"
								 : "cuLaunchHostFunc_v2");

		COUNT(row, 0, of_13_0(stream, nothing, NULL));
		COUNT(row, 0, of_13_1(stream, nothing, NULL, 17 + form));
		EXPECT(mode() == 17 + form);
		COUNT(row, 0, exported(stream, nothing, NULL, 19 + form));
		EXPECT(mode() == 19 + form);
	}
}

/* Calls of a future CUDA: changed functions are left alone, unchanged ones are seen. */
static void later(void *stream)
{
	int (*query)(void *, long, long, long, long, long, long, long *) =
		(__typeof__(query))got_of("cuStreamQuery", FAKE_LATER, 0);
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		      void *, void **, void **) =
		(__typeof__(launch))got_of("cuLaunchKernel", FAKE_LATER, 0);
	__typeof__(&cuLaunchHostFunc_v2) host =
		(__typeof__(host))got_of("cuLaunchHostFunc", FAKE_LATER, FAKE_PER_THREAD);
	long sum = 0;
	int ret = query(stream, 1, 20, 300, 4000, 50000, 600000, &sum);

	EXPECT((ret == FAKE_OK || ret == FAKE_NOT_READY) && sum == 654321);
	COUNT(tally_row("cuda_launch", ""), 0,
	      launch(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	COUNT(tally_row("cuda_stream", ""), 0, host(stream, nothing, NULL, 0));
}

static void all(const struct driver *driver, long rounds)
{
	void *stream;

	EXPECT(driver->cuStreamCreate(&stream, 0) == FAKE_OK);
	for (long i = 0; i < rounds; i++) {
		launches(driver, stream);
		memory(driver, stream);
		orders(driver, stream);
		batches(driver, stream);
		host_functions(stream);
		later(stream);
	}
	tally_begin(tally_row("cuda_stream", ""));
	EXPECT(driver->cuStreamDestroy(stream) == FAKE_OK);
	tally_end(tally_row("cuda_stream", ""), 0);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10;
	int (*export_table)(const void **, const void *);
	const void *table;
	struct driver driver;

	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	EXPECT(library);
	get = (int (*)(const char *, void **, int, uint64_t, int *))dlsym(library, "cuGetProcAddres"
										   "s_v2");
	export_table = (int (*)(const void **, const void *))dlsym(library, "cuGetExportTable");
	EXPECT(get && export_table && export_table(&table, "") == FAKE_NOT_FOUND);
	by_dlsym(&driver);
	all(&driver, rounds);
	by_dlsym_per_thread(&driver);
	all(&driver, rounds);
	by_address(&driver, 0);
	all(&driver, rounds);
	by_address(&driver, FAKE_PER_THREAD);
	all(&driver, rounds);
	puts("done");
	return 0;
}
