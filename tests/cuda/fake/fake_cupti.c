/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcupti.so.12 and .13 of the fake device: one subscriber, callbacks of the functions that give
 * work, and an activity record for each piece of work. Its clock has another epoch than the
 * system's, and is 20 ppm faster.
 *
 *	FAKE_CUPTI_LOG      a file: one line for each piece of work, delivered or not
 *	FAKE_CUPTI_DROP     each so many records one is dropped
 *	FAKE_CUPTI_VERSION  the version that cuptiGetVersion reports; older records are shorter
 *	FAKE_CUPTI_BUSY     a tool was here first
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_observer.h"

#define CALLS 65536u
#define IDS 1024u

enum { OK = 0, NO_MORE = 12, NOT_INITIALIZED = 15, BUSY = 39 };
enum { MEMCPY = 1, MEMSET = 2, KERNEL = 10, KINDS = 64 };

/* As CUDA 13.0's cupti_activity.h has them, from CUDA 11.0 on longer by and by. */
struct kernel {
	uint32_t kind, unread0[3];
	uint64_t start, end, completed;
	uint32_t device, context, stream, unread1[10], correlation;
	int64_t grid;
	const char *name;
	uint64_t later[14];
};
struct copy {
	uint32_t kind;
	uint8_t direction, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint64_t later[6];
};

struct call_data {
	uint32_t site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

/* Numbers of CUDA 13.0's cupti_driver_cbid.h and cupti_runtime_cbid.h. */
static const struct {
	int domain;
	uint32_t id;
	const char *name;
} ids[] = {
	{FAKE_RUNTIME, 211, "cudaLaunchKernel"},
	{FAKE_RUNTIME, 214, "cudaLaunchKernel_ptsz"},
	{FAKE_RUNTIME, 505, "__cudaLaunchKernel"},
	{FAKE_RUNTIME, 506, "__cudaLaunchKernel_ptsz"},
	{FAKE_RUNTIME, 269, "cudaLaunchCooperativeKernel"},
	{FAKE_RUNTIME, 270, "cudaLaunchCooperativeKernel_ptsz"},
	{FAKE_RUNTIME, 430, "cudaLaunchKernelExC"},
	{FAKE_RUNTIME, 431, "cudaLaunchKernelExC_ptsz"},
	{FAKE_RUNTIME, 311, "cudaGraphLaunch"},
	{FAKE_RUNTIME, 312, "cudaGraphLaunch_ptsz"},
	{FAKE_RUNTIME, 31, "cudaMemcpy"},
	{FAKE_RUNTIME, 215, "cudaMemcpy_ptds"},
	{FAKE_RUNTIME, 41, "cudaMemcpyAsync"},
	{FAKE_RUNTIME, 225, "cudaMemcpyAsync_ptsz"},
	{FAKE_RUNTIME, 32, "cudaMemcpy2D"},
	{FAKE_RUNTIME, 216, "cudaMemcpy2D_ptds"},
	{FAKE_RUNTIME, 44, "cudaMemcpy2DAsync"},
	{FAKE_RUNTIME, 228, "cudaMemcpy2DAsync_ptsz"},
	{FAKE_RUNTIME, 144, "cudaMemcpy3D"},
	{FAKE_RUNTIME, 245, "cudaMemcpy3D_ptds"},
	{FAKE_RUNTIME, 145, "cudaMemcpy3DAsync"},
	{FAKE_RUNTIME, 246, "cudaMemcpy3DAsync_ptsz"},
	{FAKE_RUNTIME, 160, "cudaMemcpyPeer"},
	{FAKE_RUNTIME, 161, "cudaMemcpyPeerAsync"},
	{FAKE_RUNTIME, 49, "cudaMemset"},
	{FAKE_RUNTIME, 233, "cudaMemset_ptds"},
	{FAKE_RUNTIME, 51, "cudaMemsetAsync"},
	{FAKE_RUNTIME, 235, "cudaMemsetAsync_ptsz"},
	{FAKE_DRIVER, 307, "cuLaunchKernel"},
	{FAKE_DRIVER, 442, "cuLaunchKernel_ptsz"},
	{FAKE_DRIVER, 477, "cuLaunchCooperativeKernel"},
	{FAKE_DRIVER, 478, "cuLaunchCooperativeKernel_ptsz"},
	{FAKE_DRIVER, 652, "cuLaunchKernelEx"},
	{FAKE_DRIVER, 653, "cuLaunchKernelEx_ptsz"},
	{FAKE_DRIVER, 514, "cuGraphLaunch"},
	{FAKE_DRIVER, 515, "cuGraphLaunch_ptsz"},
	{FAKE_DRIVER, 305, "cuMemcpy"},
	{FAKE_DRIVER, 408, "cuMemcpy_ptds"},
	{FAKE_DRIVER, 306, "cuMemcpyAsync"},
	{FAKE_DRIVER, 418, "cuMemcpyAsync_ptsz"},
	{FAKE_DRIVER, 276, "cuMemcpyHtoD_v2"},
	{FAKE_DRIVER, 397, "cuMemcpyHtoD_v2_ptds"},
	{FAKE_DRIVER, 277, "cuMemcpyHtoDAsync_v2"},
	{FAKE_DRIVER, 421, "cuMemcpyHtoDAsync_v2_ptsz"},
	{FAKE_DRIVER, 278, "cuMemcpyDtoH_v2"},
	{FAKE_DRIVER, 398, "cuMemcpyDtoH_v2_ptds"},
	{FAKE_DRIVER, 279, "cuMemcpyDtoHAsync_v2"},
	{FAKE_DRIVER, 422, "cuMemcpyDtoHAsync_v2_ptsz"},
	{FAKE_DRIVER, 280, "cuMemcpyDtoD_v2"},
	{FAKE_DRIVER, 399, "cuMemcpyDtoD_v2_ptds"},
	{FAKE_DRIVER, 281, "cuMemcpyDtoDAsync_v2"},
	{FAKE_DRIVER, 423, "cuMemcpyDtoDAsync_v2_ptsz"},
	{FAKE_DRIVER, 249, "cuMemsetD8_v2"},
	{FAKE_DRIVER, 411, "cuMemsetD8_v2_ptds"},
	{FAKE_DRIVER, 216, "cuMemsetD8Async"},
	{FAKE_DRIVER, 428, "cuMemsetD8Async_ptsz"},
	{FAKE_DRIVER, 220, "cuMemsetD32Async"},
	{FAKE_DRIVER, 430, "cuMemsetD32Async_ptsz"},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t correlations;
static uint8_t direction_of[CALLS]; /* of the copy that the call makes, CUpti_ActivityMemcpyKind */
static void (*callback)(void *, uint32_t, uint32_t, const struct call_data *);
static void *callback_data;
static uint8_t watched[3][IDS], enabled[KINDS];
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t *buffer;
static size_t buffer_bytes, used, dropped, records;

static uint64_t clock_of(uint64_t monotonic_ns)
{
	return UINT64_C(500000000000000000) + monotonic_ns + monotonic_ns / 50000;
}

static long setting(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value ? atol(value) : otherwise;
}

static uint32_t version(void)
{
	return (uint32_t)setting("FAKE_CUPTI_VERSION", 130001);
}

static uint8_t direction(const char *function)
{
	return strstr(function, "HtoD")	  ? 1
	       : strstr(function, "DtoH") ? 2
	       : strstr(function, "DtoD") ? 8
					  : 0;
}

static void tell(int domain, const char *function, uint32_t correlation, uint32_t site)
{
	struct call_data data = {.site = site, .function = function, .correlation = correlation};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i].domain == domain && !strcmp(ids[i].name, function) && callback &&
		    watched[domain][ids[i].id])
			callback(callback_data, (uint32_t)domain, ids[i].id, &data);
}

static uint32_t call_begin(int domain, const char *function, uint32_t outermost)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	uint32_t outer = outermost ? outermost : correlation;

	if (domain == FAKE_DRIVER)
		direction_of[outer % CALLS] = direction(function);
	tell(domain, function, correlation, 0);
	return correlation;
}

static void call_end(int domain, const char *function, uint32_t correlation)
{
	tell(domain, function, correlation, 1);
}

static void give_back(void)
{
	uint8_t *full = buffer;
	size_t bytes = buffer_bytes, valid = used;

	buffer = NULL;
	used = 0;
	if (full && complete)
		complete(NULL, 0, full, bytes, valid);
}

/* 1 where the record is delivered. */
static int put(const void *record, size_t bytes)
{
	long each = setting("FAKE_CUPTI_DROP", 0);
	size_t most;

	if (!enabled[*(const uint32_t *)record] || !request)
		return 0;
	if (buffer && used + bytes > buffer_bytes)
		give_back();
	if (!buffer)
		request(&buffer, &buffer_bytes, &most);
	if (!buffer || (each && ++records % (size_t)each == 0)) {
		dropped++;
		return 0;
	}
	memcpy(buffer + used, record, bytes);
	used += bytes;
	return 1;
}

static size_t kernel_bytes(void)
{
	return offsetof(struct kernel, later) + (version() >= 130000 ? 112 : 48);
}

static size_t copy_bytes(void)
{
	return offsetof(struct copy, later) + (version() >= 130000 ? 48 : 32);
}

static const char *name_of(const void *function)
{
	Dl_info info;

	return function && dladdr(function, &info) && info.dli_sname ? info.dli_sname : "kernel";
}

static void note(const struct fake_work *work, const char *what, uint64_t begin_ns, uint64_t end_ns,
		 int delivered)
{
	static FILE *log;

	if (!log && getenv("FAKE_CUPTI_LOG"))
		log = fopen(getenv("FAKE_CUPTI_LOG"), "ae");
	if (!log)
		return;
	fprintf(log, "%s %llu %llu %u %u %zu %d\n", what, (unsigned long long)begin_ns,
		(unsigned long long)end_ns, work->stream_id, work->correlation, work->bytes,
		delivered);
	fflush(log);
}

static void work_done(const struct fake_work *work, uint64_t begin_ns, uint64_t end_ns)
{
	struct kernel kernel = {.kind = KERNEL,
				.start = clock_of(begin_ns),
				.end = clock_of(end_ns),
				.stream = work->stream_id,
				.correlation = work->correlation,
				.name = work->name ? work->name : name_of(work->kernel)};
	struct copy copy = {.kind = work->kind == FAKE_WORK_SET ? MEMSET : MEMCPY,
			    .bytes = work->bytes,
			    .start = kernel.start,
			    .end = kernel.end,
			    .stream = work->stream_id,
			    .correlation = work->correlation};
	int delivered;

	if (work->kind > FAKE_WORK_SET)
		return;
	pthread_mutex_lock(&lock);
	if (work->kind == FAKE_WORK_COPY)
		copy.direction =
			work->direction ? work->direction : direction_of[work->correlation % CALLS];
	delivered = work->kind == FAKE_WORK_KERNEL ? put(&kernel, kernel_bytes())
						   : put(&copy, copy_bytes());
	note(work,
	     work->kind == FAKE_WORK_KERNEL ? kernel.name
	     : work->kind == FAKE_WORK_SET  ? "set"
					    : "copy",
	     begin_ns, end_ns, delivered);
	pthread_mutex_unlock(&lock);
}

static const struct fake_observer observer = {call_begin, call_end, work_done};

/* The library's functions, as CUDA 13.0's headers declare them. */
int cuptiGetVersion(uint32_t *ret);
int cuptiGetTimestamp(uint64_t *ret);
int cuptiSubscribe(void **subscriber, void *function, void *data);
int cuptiUnsubscribe(void *subscriber);
int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id);
int cuptiActivityRegisterCallbacks(void *requested, void *completed);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret);

int cuptiGetVersion(uint32_t *ret)
{
	*ret = version();
	return OK;
}

int cuptiGetTimestamp(uint64_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	*ret = clock_of((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
	return OK;
}

int cuptiSubscribe(void **subscriber, void *function, void *data)
{
	void (*observe)(const struct fake_observer *) =
		(void (*)(const struct fake_observer *))dlsym(RTLD_DEFAULT, "fakeCudaObserve");
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!observe && driver)
		observe = (void (*)(const struct fake_observer *))dlsym(driver, "fakeCudaObserve");
	if (!observe)
		return NOT_INITIALIZED;
	if (callback || setting("FAKE_CUPTI_BUSY", 0))
		return BUSY;
	callback = (void (*)(void *, uint32_t, uint32_t, const struct call_data *))function;
	callback_data = data;
	*subscriber = &callback;
	observe(&observer);
	return OK;
}

int cuptiUnsubscribe(void *subscriber)
{
	callback = NULL;
	return OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id)
{
	if (domain > FAKE_RUNTIME || id >= IDS)
		return 1;
	watched[domain][id] = (uint8_t)enable;
	return OK;
}

int cuptiActivityRegisterCallbacks(void *requested, void *completed)
{
	request = (void (*)(uint8_t **, size_t *, size_t *))requested;
	complete = (void (*)(void *, uint32_t, uint8_t *, size_t, size_t))completed;
	return OK;
}

int cuptiActivityEnable(uint32_t kind)
{
	enabled[kind % KINDS] = 1;
	return OK;
}

int cuptiActivityDisable(uint32_t kind)
{
	enabled[kind % KINDS] = 0;
	return OK;
}

#ifndef FAKE_CUPTI_WITHOUT_FLUSH
int cuptiActivityFlushAll(uint32_t flags)
{
	pthread_mutex_lock(&lock);
	give_back();
	pthread_mutex_unlock(&lock);
	return OK;
}
#endif

int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, void **record)
{
	uint8_t *next = from;

	if (*record) {
		next = *record;
		next += *(uint32_t *)*record == KERNEL ? kernel_bytes() : copy_bytes();
	}
	if ((size_t)(next - from) >= valid)
		return NO_MORE;
	*record = next;
	return OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret)
{
	*ret = dropped;
	dropped = 0;
	return OK;
}
