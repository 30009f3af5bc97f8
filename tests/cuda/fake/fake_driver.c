/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 */
#define _GNU_SOURCE
#include "fake_driver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cuda.h"
#include "fake_memory.h"
#include "fake_observer.h"
#include "fake_stream.h"

struct fake_graph {
	struct fake_work *first;
};

static int device_count(void)
{
	static int count = -1;

	if (count < 0) {
		const char *devices = getenv("FAKE_CUDA_DEVICES");

		count = devices ? devices[0] - '0' : 1;
	}
	return count;
}

static int device_missing(void)
{
	return device_count() == 0;
}

/* As with the real one, nothing that a process began goes on in its child. */
static pid_t begun_by;

static int is_forked(void)
{
	return begun_by && begun_by != getpid();
}

/* The primary contexts, one a device. */
struct fake_context {
	int device;
	long generation, retained;
};

static struct fake_context contexts[FAKE_DEVICES_MAX] = {{0, 1, 0},
							 {1, 1, 0},
							 {2, 1, 0},
							 {3, 1, 0}};
static __thread struct fake_context *context_stack[8];
static __thread int context_depth;
static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int capture_mode, my_captures;
static int global_captures, is_invalidated;

static int device_now(void)
{
	return context_stack[context_depth] ? context_stack[context_depth]->device : 0;
}

/* Calls that CUDA calls potentially unsafe: forbidden while this thread captures, or another
 * globally. */
static int capture_forbids(void)
{
	int forbids;

	if (!getenv("FAKE_CUDA_STRICT") || capture_mode == 2)
		return 0;
	pthread_mutex_lock(&capture_lock);
	forbids = my_captures || (capture_mode == 0 && global_captures);
	is_invalidated |= forbids;
	pthread_mutex_unlock(&capture_lock);
	return forbids;
}

#define RETURN_IF_CAPTURING()                                                                      \
	do {                                                                                       \
		if (capture_forbids())                                                             \
			return FAKE_CAPTURE_UNSAFE;                                                \
	} while (0)

static uint64_t copy_ns(size_t bytes)
{
	const char *ns = getenv("FAKE_CUDA_COPY_NS_PER_KIB");

	return bytes / 1024 * (ns ? strtoull(ns, NULL, 10) : FAKE_COPY_NS_PER_KIB);
}

static uint64_t kernel_ns(void **arguments)
{
	return arguments && arguments[0] ? *(const uint64_t *)arguments[0] : 0;
}

/* 0, or what the call returns instead of doing anything. */
#define RETURN_IF_NO_DEVICE()                                                                      \
	do {                                                                                       \
		if (is_forked())                                                                   \
			return FAKE_NOT_INITIALIZED;                                               \
		if (device_missing())                                                              \
			return FAKE_NO_DEVICE;                                                     \
	} while (0)

static int launch(const void *f, unsigned blocks, void **arguments, struct fake_stream *stream)
{
	RETURN_IF_NO_DEVICE();
	if (!blocks)
		return FAKE_INVALID;
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_KERNEL,
						    .ns = kernel_ns(arguments),
						    .kernel = f});
	return FAKE_OK;
}

static int copy_in_time(void *to, const void *from, size_t bytes, uint64_t ns,
			struct fake_stream *stream)
{
	RETURN_IF_NO_DEVICE();
	if (bytes && (!to || !from))
		return FAKE_INVALID;
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_COPY,
						    .ns = ns,
						    .to = to,
						    .from = from,
						    .bytes = bytes});
	return FAKE_OK;
}

static int copy_now(void *to, const void *from, size_t bytes, struct fake_stream *stream)
{
	int ret = copy_in_time(to, from, bytes, copy_ns(bytes), stream);

	if (ret == FAKE_OK)
		fake_stream_finish(stream);
	return ret;
}

/* CUDA takes pageable memory through a buffer of its own: from it up to 64 KiB at once; else the
 * host waits. */
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
	RETURN_IF_NO_DEVICE();
	fake_stream_put(stream, &(struct fake_work){.kind = FAKE_WORK_SET,
						    .ns = copy_ns(bytes),
						    .to = (void *)to,
						    .byte = byte,
						    .bytes = bytes});
	return FAKE_OK;
}

static int memory_make(uint64_t *pointer, size_t bytes)
{
	void *made;

	RETURN_IF_NO_DEVICE();
	if (posix_memalign(&made, 512, bytes ? bytes : 1) != 0)
		return 2;
	fake_memory_add(made, bytes);
	*pointer = (uint64_t)made;
	return FAKE_OK;
}

static int memory_free(uint64_t pointer)
{
	RETURN_IF_NO_DEVICE();
	fake_memory_drop((void *)pointer);
	free((void *)pointer);
	return FAKE_OK;
}

static int graph_launch(const struct fake_graph *graph, struct fake_stream *stream)
{
	RETURN_IF_NO_DEVICE();
	for (const struct fake_work *work = graph->first; work; work = work->next)
		fake_stream_put(stream, work);
	return FAKE_OK;
}

static int capture_enter(int mode, struct fake_stream *stream)
{
	RETURN_IF_NO_DEVICE();
	fake_capture_begin(stream);
	pthread_mutex_lock(&capture_lock);
	my_captures += mode != 2;
	global_captures += mode == 0;
	is_invalidated = 0;
	pthread_mutex_unlock(&capture_lock);
	return FAKE_OK;
}

/* One capture at a time is enough here. */
static int capture_leave(void)
{
	int ret;

	pthread_mutex_lock(&capture_lock);
	ret = is_invalidated ? FAKE_CAPTURE_INVALIDATED : FAKE_OK;
	my_captures = global_captures = 0;
	pthread_mutex_unlock(&capture_lock);
	return ret;
}

static int capture_end(struct fake_stream *stream, void **ret_graph)
{
	struct fake_graph *graph;

	RETURN_IF_NO_DEVICE();
	graph = malloc(sizeof(*graph));
	if (!graph)
		return 2;
	graph->first = fake_capture_end(stream);
	*ret_graph = graph;
	return capture_leave();
}

long cuFakeGraphNodes(void *graph)
{
	long nodes = 0;

	for (const struct fake_work *work = ((struct fake_graph *)graph)->first; work;
	     work = work->next)
		nodes++;
	return nodes;
}

/* An event belongs to the context it was made in. */
struct event {
	struct fake_event *inner;
	int device;
	long generation;
	bool has_no_time;
};

static bool event_is_gone(const struct event *event)
{
	if (event->generation == contexts[event->device].generation)
		return false;
	__atomic_add_fetch(&fake_violations, 1, __ATOMIC_RELAXED);
	return true;
}

static int event_record(struct event *event, struct fake_stream *stream)
{
	if (event_is_gone(event) || fake_stream_device(stream) != event->device)
		return FAKE_INVALID_HANDLE;
	fake_event_put(event->inner, stream);
	return FAKE_OK;
}

#define PROTOTYPE(name, exported, per_thread, parameters)                                          \
	int exported parameters;                                                                   \
	int per_thread parameters;
FAKE_STREAM_DRIVER(PROTOTYPE)
FAKE_PLAIN_DRIVER(PROTOTYPE)

#define OBSERVED(name)                                                                             \
	struct fake_call observed                                                                  \
		__attribute__((cleanup(fakeCudaEnd))) = {FAKE_DRIVER, name, 0, 0};                 \
	fakeCudaBegin(&observed)

/* Both forms of a function; `s` is the stream of the call. */
#define FORMS(exported, suffix, parameters, handle, body)                                          \
	int exported parameters                                                                    \
	{                                                                                          \
		OBSERVED(#exported);                                                               \
		struct fake_stream *s = fake_stream_of(handle, device_now());                      \
		return body;                                                                       \
	}                                                                                          \
	int exported##suffix parameters                                                            \
	{                                                                                          \
		OBSERVED(#exported #suffix);                                                       \
		struct fake_stream *s = (handle) ? fake_stream_of(handle, device_now())            \
						 : fake_stream_own(device_now());                  \
		return body;                                                                       \
	}
FORMS(cuLaunchKernel, _ptsz,
      (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shared, void *stream, void **arguments, void **extra),
      stream, launch(f, gx *gy *gz, arguments, s))
FORMS(cuLaunchCooperativeKernel, _ptsz,
      (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shared, void *stream, void **arguments),
      stream, launch(f, gx *gy *gz, arguments, s))
FORMS(cuLaunchKernelEx, _ptsz,
      (const struct fake_driver_launch *l, void *f, void **arguments, void **extra), l->stream,
      launch(f, l->grid[0] * l->grid[1] * l->grid[2], arguments, s))
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
FORMS(cuMemsetD8Async, _ptsz, (uint64_t to, unsigned char value, size_t count, void *stream),
      stream, set(to, value, count, s))
FORMS(cuMemsetD32Async, _ptsz, (uint64_t to, unsigned value, size_t count, void *stream), stream,
      set(to, (int)value, count * 4, s))
FORMS(cuMemAllocAsync, _ptsz, (uint64_t * pointer, size_t bytes, void *stream), stream,
      ((void)s, memory_make(pointer, bytes)))
FORMS(cuMemAllocFromPoolAsync, _ptsz, (uint64_t * pointer, size_t bytes, void *pool, void *stream),
      stream, ((void)s, memory_make(pointer, bytes)))
FORMS(cuMemFreeAsync, _ptsz, (uint64_t pointer, void *stream), stream,
      (fake_stream_put(s, &(struct fake_work){.kind = FAKE_WORK_FUNCTION,
					      .to = (void *)pointer,
					      .function = free}),
       0))
FORMS(cuLaunchHostFunc, _ptsz, (void *stream, void (*function)(void *), void *data), stream,
      (fake_stream_put(s, &(struct fake_work){.kind = FAKE_WORK_FUNCTION,
					      .to = data,
					      .function = function}),
       0))
static unsigned host_mode;

unsigned cuFakeHostMode(void)
{
	return __atomic_load_n(&host_mode, __ATOMIC_RELAXED);
}

FORMS(cuLaunchHostFunc_v2, _ptsz,
      (void *stream, void (*function)(void *), void *data, unsigned mode), stream,
      (__atomic_store_n(&host_mode, mode, __ATOMIC_RELAXED),
       fake_stream_put(s, &(struct fake_work){.kind = FAKE_WORK_FUNCTION,
					      .to = data,
					      .function = function}),
       0))
FORMS(cuStreamAddCallback, _ptsz,
      (void *stream, void (*function)(void *, int, void *), void *data, unsigned flags), stream,
      ((void)s, function &&data && !flags ? FAKE_OK : FAKE_INVALID))
FORMS(cuSignalExternalSemaphoresAsync, _ptsz,
      (const void *semaphores, const void *what, unsigned count, void *stream), stream,
      ((void)s, semaphores &&what &&count == 1 ? FAKE_OK : FAKE_INVALID))
FORMS(cuWaitExternalSemaphoresAsync, _ptsz,
      (const void *semaphores, const void *what, unsigned count, void *stream), stream,
      ((void)s, semaphores &&what &&count == 1 ? FAKE_OK : FAKE_INVALID))
FORMS(cuStreamAttachMemAsync, _ptsz, (void *stream, uint64_t address, size_t bytes, unsigned flags),
      stream, ((void)s, address &&bytes &&flags == 1 ? FAKE_OK : FAKE_INVALID))
FORMS(cuGraphUpload, _ptsz, (void *graph, void *stream), stream,
      ((void)s, graph ? FAKE_OK : FAKE_INVALID))
FORMS(cuMemcpyWithAttributesAsync, _ptsz,
      (uint64_t to, uint64_t from, size_t bytes, void *attributes, void *stream), stream,
      attributes ? copy((void *)to, (const void *)from, bytes, s) : FAKE_INVALID)
FORMS(cuMemcpy3DWithAttributesAsync, _ptsz,
      (const struct fake_copy_3d_of_13 *c, unsigned long long flags, void *stream), stream,
      ((void)s, c &&flags == 5 ? FAKE_OK : FAKE_INVALID))
FORMS(cuStreamBeginCapture_v2, _ptsz, (void *stream, int mode), stream, capture_enter(mode, s))
FORMS(cuStreamQuery, _ptsz, (void *stream), stream, fake_stream_idle(s) ? FAKE_OK : FAKE_NOT_READY)
FORMS(cuStreamSynchronize, _ptsz, (void *stream), stream,
      device_missing() ? FAKE_NO_DEVICE : (fake_stream_finish(s), 0))
FORMS(cuStreamWaitEvent, _ptsz, (void *stream, void *event, unsigned flags), stream,
      (fake_event_follow(((struct event *)event)->inner, s), 0))
FORMS(cuEventRecord, _ptsz, (void *event, void *stream), stream, event_record(event, s))

/* One ABI of CUDA 12.8, and one of 13 that cannot say which copy failed. */
int cuMemcpyBatchAsync_v2(const uint64_t *to, const uint64_t *from, const size_t *sizes,
			  size_t count, void *attributes, size_t *indices, size_t attribute_count,
			  void *stream)
{
	struct fake_stream *s = fake_stream_of(stream, device_now());
	int ret = FAKE_OK;

	for (size_t i = 0; i < count && ret == FAKE_OK; i++)
		ret = copy((void *)to[i], (const void *)from[i], sizes[i], s);
	return ret;
}

int cuMemcpyBatchAsync(const uint64_t *to, const uint64_t *from, const size_t *sizes, size_t count,
		       void *attributes, size_t *indices, size_t attribute_count, size_t *failed,
		       void *stream)
{
	*failed = SIZE_MAX;
	return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, attribute_count,
				     stream);
}

int cuInit(unsigned flags)
{
	RETURN_IF_NO_DEVICE();
	begun_by = getpid();
	return FAKE_OK;
}

int cuDeviceGetCount(int *count)
{
	RETURN_IF_NO_DEVICE();
	*count = device_count();
	return FAKE_OK;
}

int cuCtxGetCurrent(void **context)
{
	RETURN_IF_NO_DEVICE();
	*context = context_stack[context_depth];
	return FAKE_OK;
}

int cuCtxSetCurrent(void *context)
{
	context_stack[context_depth] = context;
	return FAKE_OK;
}

int cuCtxPushCurrent_v2(void *context)
{
	context_stack[++context_depth] = context;
	return FAKE_OK;
}

int cuCtxPopCurrent_v2(void **context)
{
	*context = context_stack[context_depth--];
	return FAKE_OK;
}

int cuCtxGetDevice(int *device)
{
	*device = device_now();
	return FAKE_OK;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	if (device < 0 || device >= device_count())
		return FAKE_INVALID_DEVICE;
	__atomic_add_fetch(&contexts[device].retained, 1, __ATOMIC_RELAXED);
	*context = &contexts[device];
	return FAKE_OK;
}

int cuDevicePrimaryCtxReset_v2(int device)
{
	RETURN_IF_NO_DEVICE();
	fake_streams_finish_all();
	__atomic_add_fetch(&contexts[device].generation, 1, __ATOMIC_RELAXED);
	return FAKE_OK;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	if (__atomic_sub_fetch(&contexts[device].retained, 1, __ATOMIC_RELAXED) == 0)
		return cuDevicePrimaryCtxReset_v2(device);
	return FAKE_OK;
}

/* 1 where anybody still holds it. */
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	*flags = 0;
	*active = __atomic_load_n(&contexts[device].retained, __ATOMIC_RELAXED) > 0;
	return FAKE_OK;
}

/* One context of one's own at a time is enough here:
 * it takes a device's place that is not counted. */
int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
	RETURN_IF_NO_DEVICE();
	(void)flags, (void)device;
	contexts[FAKE_DEVICES_MAX - 1].retained = 1;
	*context = &contexts[FAKE_DEVICES_MAX - 1];
	return cuCtxPushCurrent_v2(*context);
}

/* Ends the context's being current, and everything that was made in it. */
int cuCtxDestroy_v2(void *context)
{
	struct fake_context *gone = context;

	if (context_stack[context_depth] == gone)
		context_depth--;
	return cuDevicePrimaryCtxReset_v2(gone->device);
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
	int before = capture_mode;

	capture_mode = *mode;
	*mode = before;
	return FAKE_OK;
}

int cuStreamIsCapturing(void *stream, int *status)
{
	*status = fake_stream_captures(fake_stream_of(stream, device_now()));
	return FAKE_OK;
}

uint64_t cuFakeWaitedNs(void)
{
	return fake_waited_ns();
}

uint64_t cuFakePutNs(void)
{
	return fake_put_ns();
}

long cuFakeViolations(void)
{
	return __atomic_load_n(&fake_violations, __ATOMIC_RELAXED);
}

int cuGraphInstantiateWithFlags(void **instance, void *graph, unsigned long long flags)
{
	*instance = graph;
	return FAKE_OK;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	RETURN_IF_NO_DEVICE();
	*stream = fake_stream_make(device_now());
	return FAKE_OK;
}

int cuStreamDestroy_v2(void *stream)
{
	fake_stream_free(stream);
	return FAKE_OK;
}

int cuGraphInstantiateWithParams(void **instance, void *graph, void *how)
{
	return how ? cuGraphInstantiateWithFlags(instance, graph, 0) : FAKE_INVALID;
}

int cuGraphExecUpdate_v2(void *instance, void *graph, void *result)
{
	return instance && graph && result ? FAKE_OK : FAKE_INVALID;
}

int cuCtxRecordEvent(void *context, void *event)
{
	return context && event ? FAKE_OK : FAKE_INVALID;
}

int cuCtxWaitEvent(void *context, void *event)
{
	return context && event ? FAKE_OK : FAKE_INVALID;
}

int cuGreenCtxDestroy(void *context)
{
	return context ? FAKE_OK : FAKE_INVALID;
}

int cuMemPoolTrimTo(void *pool, size_t kept_bytes)
{
	return pool && kept_bytes == 4096 ? FAKE_OK : FAKE_INVALID;
}

int cuCtxSynchronize(void)
{
	RETURN_IF_NO_DEVICE();
	fake_streams_finish_all();
	return FAKE_OK;
}

int cuEventCreate(void **event, unsigned flags)
{
	struct event *made;

	RETURN_IF_NO_DEVICE();
	RETURN_IF_CAPTURING();
	made = calloc(1, sizeof(*made));
	if (!made)
		return 2;
	made->inner = fake_event_make();
	made->device = device_now();
	made->generation = contexts[made->device].generation;
	made->has_no_time = flags & 2;
	*event = made;
	return FAKE_OK;
}

int cuEventDestroy_v2(void *event)
{
	fake_event_free(((struct event *)event)->inner);
	return FAKE_OK;
}

int cuEventSynchronize(void *event)
{
	RETURN_IF_NO_DEVICE();
	fake_event_finish(((struct event *)event)->inner);
	return FAKE_OK;
}

int cuEventQuery(void *event)
{
	RETURN_IF_NO_DEVICE();
	RETURN_IF_CAPTURING();
	if (event_is_gone(event))
		return FAKE_INVALID_HANDLE;
	return fake_event_done(((struct event *)event)->inner) ? FAKE_OK : FAKE_NOT_READY;
}

int cuEventElapsedTime(float *ms, void *from, void *to)
{
	struct event *first = from, *last = to;

	if (event_is_gone(first) || event_is_gone(last) || first->has_no_time || last->has_no_time)
		return FAKE_INVALID_HANDLE;
	if (!fake_event_done(first->inner) || !fake_event_done(last->inner))
		return FAKE_NOT_READY;
	*ms = (float)((double)(int64_t)(fake_event_ns(last->inner) - fake_event_ns(first->inner)) /
		      1e6);
	return FAKE_OK;
}

/* To map memory takes the driver some time. */
static void take_time(const char *ns)
{
	uint64_t time = ns ? strtoull(ns, NULL, 10) : 0;
	struct timespec left = {(time_t)(time / 1000000000u), (long)(time % 1000000000u)};

	while (time && nanosleep(&left, &left) != 0)
		;
}

/* As the real one may: it has to make room, or the driver is of that kind. */
static int memory_make_waiting(uint64_t *pointer, size_t bytes)
{
	take_time(getenv("FAKE_CUDA_MALLOC_NS"));
	if (getenv("FAKE_CUDA_MALLOC_WAITS") && !device_missing())
		fake_streams_finish_all();
	return memory_make(pointer, bytes);
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
	return memory_make_waiting(pointer, bytes);
}

/* Like the real one, it waits for the device. */
int cuMemFree_v2(uint64_t pointer)
{
	RETURN_IF_NO_DEVICE();
	fake_streams_finish_all();
	return memory_free(pointer);
}

int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	return memory_make_waiting((uint64_t *)pointer, bytes);
}

int cuMemFreeHost(void *pointer)
{
	return memory_free((uint64_t)pointer);
}

int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
	RETURN_IF_NO_DEVICE();
	fake_memory_add(pointer, bytes);
	return FAKE_OK;
}

int cuMemHostUnregister(void *pointer)
{
	RETURN_IF_NO_DEVICE();
	fake_memory_drop(pointer);
	return FAKE_OK;
}

/* The table that a real runtime asks for privately: this device has none. */
int cuGetExportTable(const void **table, const void *id)
{
	*table = NULL;
	return FAKE_NOT_FOUND;
}

__attribute__((destructor)) static void unload(void)
{
	if (getenv("FAKE_CUDA_UNLOADS"))
		fake_streams_end();
}

#define ENTRY(name, exported, per_thread, parameters) {#name, (void *)exported, (void *)per_thread},
static const struct {
	const char *name;
	void *exported, *per_thread;
} functions[] = {
	FAKE_STREAM_DRIVER(ENTRY) FAKE_PLAIN_DRIVER(
		ENTRY){"cuGetExportTable", (void *)cuGetExportTable, (void *)cuGetExportTable},
};

/* cuStreamQuery of an invented version of CUDA: the last two arguments are on the stack. */
static int query_of_later(void *stream, long b, long c, long d, long e, long f, long g, long *sum)
{
	*sum = b + c + d + e + f + g;
	return cuStreamQuery(stream);
}

/* Functions that have changed: the newest ABI that the version has. */
static const struct {
	const char *name;
	int since;
	void *exported, *per_thread;
} changed[] = {
	{"cuGetProcAddress", 12000, (void *)cuGetProcAddress_v2, (void *)cuGetProcAddress_v2},
	{"cuGetProcAddress", 0, (void *)cuGetProcAddress, (void *)cuGetProcAddress},
	{"cuMemcpyBatchAsync", 13000, (void *)cuMemcpyBatchAsync_v2, (void *)cuMemcpyBatchAsync_v2},
	{"cuMemcpyBatchAsync", 12080, (void *)cuMemcpyBatchAsync, (void *)cuMemcpyBatchAsync},
	{"cuLaunchHostFunc", 13010, (void *)cuLaunchHostFunc_v2, (void *)cuLaunchHostFunc_v2_ptsz},
	{"cuStreamQuery", FAKE_LATER, (void *)query_of_later, (void *)query_of_later},
};

static void *find_changed(const char *symbol, int version, uint64_t flags)
{
	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
		if (version >= changed[i].since && !strcmp(symbol, changed[i].name))
			return flags & FAKE_PER_THREAD ? changed[i].per_thread
						       : changed[i].exported;
	return NULL;
}

int fakeCudaFind(const char *symbol, void **function, int version, uint64_t flags, int *status)
{
	*function = find_changed(symbol, version, flags);
	for (size_t i = 0; !*function && i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(symbol, functions[i].name))
			*function = flags & FAKE_PER_THREAD ? functions[i].per_thread
							    : functions[i].exported;
	if (status)
		*status = *function ? 0 : 1;
	return *function ? FAKE_OK : FAKE_NOT_FOUND;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
			int *status)
{
	return fakeCudaFind(symbol, function, version, flags, status);
}

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
	return fakeCudaFind(symbol, function, version, flags, NULL);
}
