/* libcuda.so.1 */
#define _GNU_SOURCE
#include "fake_driver.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_memory.h"
#include "fake_observer.h"
#include "fake_stream.h"

struct fake_graph {
	struct fake_work *first;
};

static int device_missing(void)
{
	static int missing = -1;

	if (missing < 0) {
		const char *devices = getenv("FAKE_CUDA_DEVICES");

		missing = devices && devices[0] == '0';
	}
	return missing;
}

static uint64_t copy_ns(size_t bytes)
{
	return bytes / 1024 * FAKE_COPY_NS_PER_KIB;
}

static uint64_t kernel_ns(void **arguments)
{
	return arguments && arguments[0] ? *(const uint64_t *)arguments[0] : 0;
}

/* 0, or what the call returns instead of doing anything. */
#define NEED_DEVICE()                                                                              \
	do {                                                                                       \
		if (device_missing())                                                              \
			return FAKE_NO_DEVICE;                                                     \
	} while (0)

static int launch(const void *f, unsigned blocks, void **arguments, struct fake_stream *stream)
{
	NEED_DEVICE();
	if (!blocks)
		return FAKE_INVALID;
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_KERNEL,
						    .ns = kernel_ns(arguments), .kernel = f});
	return FAKE_OK;
}

static int copy_in_time(void *to, const void *from, size_t bytes, uint64_t ns,
			struct fake_stream *stream)
{
	NEED_DEVICE();
	if (bytes && (!to || !from))
		return FAKE_INVALID;
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_COPY, .ns = ns, .to = to,
						    .from = from, .bytes = bytes});
	return FAKE_OK;
}

static int copy_now(void *to, const void *from, size_t bytes, struct fake_stream *stream)
{
	int ret = copy_in_time(to, from, bytes, copy_ns(bytes), stream);

	if (ret == FAKE_OK)
		fake_stream_finish(stream);
	return ret;
}

/* CUDA takes pageable memory through a buffer of its own: from it up to 64 KiB at once; else the host waits. */
static int copy(void *to, const void *from, size_t bytes, struct fake_stream *stream)
{
	bool staged = !fake_memory_has(to) || (bytes > 65536 && !fake_memory_has(from));
	int ret = copy_in_time(to, from, bytes, (staged ? 2 : 1) * copy_ns(bytes), stream);

	if (ret == FAKE_OK && staged)
		fake_stream_finish(stream);
	return ret;
}

static int set(uint64_t to, int byte, size_t bytes, struct fake_stream *stream)
{
	NEED_DEVICE();
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_SET, .ns = copy_ns(bytes),
						    .to = (void *)to, .byte = byte, .bytes = bytes});
	return FAKE_OK;
}

static int memory_make(uint64_t *pointer, size_t bytes)
{
	void *made;

	NEED_DEVICE();
	if (posix_memalign(&made, 512, bytes ? bytes : 1) != 0)
		return 2;
	fake_memory_add(made, bytes);
	*pointer = (uint64_t)made;
	return FAKE_OK;
}

static int memory_free(uint64_t pointer)
{
	NEED_DEVICE();
	fake_memory_drop((void *)pointer);
	free((void *)pointer);
	return FAKE_OK;
}

static int graph_launch(const struct fake_graph *graph, struct fake_stream *stream)
{
	NEED_DEVICE();
	for (const struct fake_work *work = graph->first; work; work = work->next)
		fake_stream_put(stream, work);
	return FAKE_OK;
}

static int capture_end(struct fake_stream *stream, void **ret_graph)
{
	struct fake_graph *graph;

	NEED_DEVICE();
	graph = malloc(sizeof(*graph));
	if (!graph)
		return 2;
	graph->first = fake_capture_end(stream);
	*ret_graph = graph;
	return FAKE_OK;
}

#define PROTOTYPE(name, exported, per_thread, parameters)                                          \
	int exported parameters;                                                                   \
	int per_thread parameters;
FAKE_STREAM_DRIVER(PROTOTYPE)
FAKE_PLAIN_DRIVER(PROTOTYPE)

#define OBSERVED(name)                                                                             \
	struct fake_call observed __attribute__((cleanup(fakeCudaEnd))) = {FAKE_DRIVER, name, 0, 0};   \
	fakeCudaBegin(&observed)

/* Both forms of a function; `s` is the stream of the call. */
#define FORMS(exported, suffix, parameters, handle, body)                                          \
	int exported parameters                                                                    \
	{                                                                                          \
		OBSERVED(#exported);                                                               \
		struct fake_stream *s = fake_stream_of(handle);                                    \
		return body;                                                                       \
	}                                                                                          \
	int exported##suffix parameters                                                            \
	{                                                                                          \
		OBSERVED(#exported #suffix);                                                       \
		struct fake_stream *s = (handle) ? fake_stream_of(handle) : fake_stream_own();      \
		return body;                                                                       \
	}
FORMS(cuLaunchKernel, _ptsz,
      (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shared, void *stream, void **arguments, void **extra),
      stream, launch(f, gx * gy * gz, arguments, s))
FORMS(cuLaunchCooperativeKernel, _ptsz,
      (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shared, void *stream, void **arguments),
      stream, launch(f, gx * gy * gz, arguments, s))
FORMS(cuLaunchKernelEx, _ptsz,
      (const struct fake_driver_launch *l, void *f, void **arguments, void **extra),
      l->stream, launch(f, l->grid[0] * l->grid[1] * l->grid[2], arguments, s))
FORMS(cuGraphLaunch, _ptsz, (void *graph, void *stream), stream, graph_launch(graph, s))
FORMS(cuStreamEndCapture, _ptsz, (void *stream, void **graph), stream, capture_end(s, graph))
FORMS(cuMemcpy, _ptds, (uint64_t to, uint64_t from, size_t bytes), NULL,
      copy_now((void *)to, (const void *)from, bytes, s))
FORMS(cuMemcpyAsync, _ptsz, (uint64_t to, uint64_t from, size_t bytes, void *stream), stream,
      copy((void *)to, (const void *)from, bytes, s))
FORMS(cuMemcpyHtoD_v2, _ptds, (uint64_t to, const void *from, size_t bytes), NULL,
      copy_now((void *)to, from, bytes, s))
FORMS(cuMemcpyDtoH_v2, _ptds, (void *to, uint64_t from, size_t bytes), NULL,
      copy_now(to, (const void *)from, bytes, s))
FORMS(cuMemcpyDtoD_v2, _ptds, (uint64_t to, uint64_t from, size_t bytes), NULL,
      copy_now((void *)to, (const void *)from, bytes, s))
FORMS(cuMemcpyHtoDAsync_v2, _ptsz, (uint64_t to, const void *from, size_t bytes, void *stream),
      stream, copy((void *)to, from, bytes, s))
FORMS(cuMemcpyDtoHAsync_v2, _ptsz, (void *to, uint64_t from, size_t bytes, void *stream), stream,
      copy(to, (const void *)from, bytes, s))
FORMS(cuMemcpyDtoDAsync_v2, _ptsz, (uint64_t to, uint64_t from, size_t bytes, void *stream), stream,
      copy((void *)to, (const void *)from, bytes, s))
FORMS(cuMemsetD8_v2, _ptds, (uint64_t to, unsigned char value, size_t count), NULL,
      set(to, value, count, s))
FORMS(cuMemsetD8Async, _ptsz, (uint64_t to, unsigned char value, size_t count, void *stream), stream,
      set(to, value, count, s))
FORMS(cuMemsetD32Async, _ptsz, (uint64_t to, unsigned value, size_t count, void *stream), stream,
      set(to, (int)value, count * 4, s))
FORMS(cuMemAllocAsync, _ptsz, (uint64_t *pointer, size_t bytes, void *stream), stream,
      ((void)s, memory_make(pointer, bytes)))
FORMS(cuMemAllocFromPoolAsync, _ptsz, (uint64_t *pointer, size_t bytes, void *pool, void *stream),
      stream, ((void)s, memory_make(pointer, bytes)))
FORMS(cuMemFreeAsync, _ptsz, (uint64_t pointer, void *stream), stream,
      (fake_stream_put(s, &(struct fake_work){.kind = FAKE_WORK_FUNCTION, .to = (void *)pointer,
					      .function = free}),
       0))
FORMS(cuLaunchHostFunc, _ptsz, (void *stream, void (*function)(void *), void *data), stream,
      (fake_stream_put(s, &(struct fake_work){.kind = FAKE_WORK_FUNCTION, .to = data,
					      .function = function}),
       0))
FORMS(cuStreamBeginCapture_v2, _ptsz, (void *stream, int mode), stream, (fake_capture_begin(s), 0))
FORMS(cuStreamQuery, _ptsz, (void *stream), stream, fake_stream_idle(s) ? FAKE_OK : FAKE_NOT_READY)
FORMS(cuStreamSynchronize, _ptsz, (void *stream), stream,
      device_missing() ? FAKE_NO_DEVICE : (fake_stream_finish(s), 0))
FORMS(cuStreamWaitEvent, _ptsz, (void *stream, void *event, unsigned flags), stream,
      (fake_event_follow(event, s), 0))
FORMS(cuEventRecord, _ptsz, (void *event, void *stream), stream, (fake_event_put(event, s), 0))

int cuInit(unsigned flags)
{
	NEED_DEVICE();
	return FAKE_OK;
}

int cuDeviceGetCount(int *count)
{
	NEED_DEVICE();
	*count = 1;
	return FAKE_OK;
}

int cuGraphInstantiateWithFlags(void **instance, void *graph, unsigned long long flags)
{
	*instance = graph;
	return FAKE_OK;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	NEED_DEVICE();
	*stream = fake_stream_make();
	return FAKE_OK;
}

int cuStreamDestroy_v2(void *stream)
{
	fake_stream_free(stream);
	return FAKE_OK;
}

int cuCtxSynchronize(void)
{
	NEED_DEVICE();
	fake_streams_finish_all();
	return FAKE_OK;
}

int cuEventCreate(void **event, unsigned flags)
{
	NEED_DEVICE();
	*event = fake_event_make();
	return FAKE_OK;
}

int cuEventDestroy_v2(void *event)
{
	fake_event_free(event);
	return FAKE_OK;
}

int cuEventSynchronize(void *event)
{
	NEED_DEVICE();
	fake_event_finish(event);
	return FAKE_OK;
}

int cuEventQuery(void *event)
{
	NEED_DEVICE();
	return fake_event_done(event) ? FAKE_OK : FAKE_NOT_READY;
}

int cuEventElapsedTime(float *ms, void *from, void *to)
{
	if (!fake_event_done(from) || !fake_event_done(to))
		return FAKE_NOT_READY;
	*ms = (float)(fake_event_ns(to) - fake_event_ns(from)) / 1e6f;
	return FAKE_OK;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
	return memory_make(pointer, bytes);
}

/* Like the real one, it waits for the device. */
int cuMemFree_v2(uint64_t pointer)
{
	NEED_DEVICE();
	fake_streams_finish_all();
	return memory_free(pointer);
}

int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	return memory_make((uint64_t *)pointer, bytes);
}

int cuMemFreeHost(void *pointer)
{
	return memory_free((uint64_t)pointer);
}

int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
	NEED_DEVICE();
	fake_memory_add(pointer, bytes);
	return FAKE_OK;
}

int cuMemHostUnregister(void *pointer)
{
	NEED_DEVICE();
	fake_memory_drop(pointer);
	return FAKE_OK;
}

/* The table that a real runtime asks for privately: this device has none. */
int cuGetExportTable(const void **table, const void *id)
{
	*table = NULL;
	return FAKE_NOT_FOUND;
}

#define ENTRY(name, exported, per_thread, parameters) {#name, (void *)exported, (void *)per_thread},
static const struct {
	const char *name;
	void *exported, *per_thread;
} functions[] = {
	FAKE_STREAM_DRIVER(ENTRY) FAKE_PLAIN_DRIVER(ENTRY)
	{"cuGetExportTable", (void *)cuGetExportTable, (void *)cuGetExportTable},
};

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status)
{
	*function = NULL;
	if (!strcmp(symbol, "cuGetProcAddress"))
		*function = version >= 12000 ? (void *)cuGetProcAddress_v2 :
					       (void *)cuGetProcAddress;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(symbol, functions[i].name))
			*function = flags & FAKE_PER_THREAD ? functions[i].per_thread :
							      functions[i].exported;
	if (status)
		*status = *function ? 0 : 1;
	return *function ? FAKE_OK : FAKE_NOT_FOUND;
}

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
