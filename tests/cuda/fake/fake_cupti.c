/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcupti.so.12 and .13 of the fake device: one subscriber, callbacks of the functions that give
 * work, and an activity record for each piece of work. Its clock has another epoch than the
 * system's, and is 20 ppm faster. Its user can give it another clock instead, as torch.profiler
 * does, and ask for a record of each call that no other call made.
 *
 *	FAKE_CUPTI_LOG      a file: one line for each piece of work, delivered or not
 *	FAKE_CUPTI_DROP     each so many records one is dropped
 *	FAKE_CUPTI_VERSION  the version that cuptiGetVersion reports; older records are shorter
 *	FAKE_CUPTI_BUSY     a tool was here first
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_observer.h"

#define CALLS 65536u
#define IDS 1024u

enum { OK = 0, NO_MORE = 12, NOT_INITIALIZED = 15, BUSY = 39 };
enum { MEMCPY = 1, MEMSET = 2, DRIVER_CALL = 4, RUNTIME_CALL = 5, KERNEL = 10, KINDS = 64 };

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

struct call {
	uint32_t kind, id;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
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

static const struct {
	int domain;
	uint32_t id;
	const char *name;
} ids[] = {
#define FAKE_CALL(domain, id, name) {domain, id, #name},
#include "fake_cupti.def"
#undef FAKE_CALL
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

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock that the user gave, and one reading of both clocks: their ratio is that since. */
static uint64_t (*given_clock)(void);
static uint64_t given_at, given_ns;

static uint64_t given_clock_of(uint64_t ns)
{
	uint64_t now = now_ns(), clock = given_clock();
	double a_ns = (double)(clock - given_at) / (double)(now - given_ns + 1);

	return clock - (uint64_t)(int64_t)((double)(int64_t)(now - ns) * a_ns);
}

static uint64_t clock_of(uint64_t ns)
{
	if (given_clock)
		return given_clock_of(ns);
	return UINT64_C(500000000000000000) + ns + ns / 50000;
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

static size_t record_bytes(uint32_t kind)
{
	if (kind == KERNEL)
		return kernel_bytes();
	return kind == DRIVER_CALL || kind == RUNTIME_CALL ? sizeof(struct call) : copy_bytes();
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

static __thread struct call outermost_call;

static uint32_t id_of(int domain, const char *function)
{
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i].domain == domain && !strcmp(ids[i].name, function))
			return ids[i].id;
	return 0;
}

static uint32_t call_begin(int domain, const char *function, uint32_t outermost)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	uint32_t outer = outermost ? outermost : correlation;

	if (domain == FAKE_DRIVER)
		direction_of[outer % CALLS] = direction(function);
	tell(domain, function, correlation, 0);
	if (!outermost)
		outermost_call = (struct call){
			.kind = domain == FAKE_DRIVER ? DRIVER_CALL : RUNTIME_CALL,
			.id = id_of(domain, function),
			.start = now_ns(),
			.process = (uint32_t)getpid(),
			.thread = (uint32_t)pthread_self(),
			.correlation = correlation,
		};
	return correlation;
}

static void call_end(int domain, const char *function, uint32_t correlation)
{
	struct call call = outermost_call;

	tell(domain, function, correlation, 1);
	if (call.correlation != correlation || !enabled[call.kind])
		return;
	pthread_mutex_lock(&lock);
	call.start = clock_of(call.start);
	call.end = clock_of(now_ns());
	put(&call, sizeof(call));
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
int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
int cuptiActivitySetAttribute(int attribute, size_t *bytes, void *value);
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *ret);
int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable);
int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable);
int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain);
int cuptiGetCallbackName(int domain, uint32_t id, const char **ret);
int cuptiGetResultString(int result, const char **ret);
int cuptiFinalize(void);

int cuptiGetVersion(uint32_t *ret)
{
	*ret = version();
	return OK;
}

int cuptiGetTimestamp(uint64_t *ret)
{
	*ret = clock_of(now_ns());
	return OK;
}

/* False where there is no driver. */
static bool watch_driver(void)
{
	void (*observe)(const struct fake_observer *) =
		(void (*)(const struct fake_observer *))dlsym(RTLD_DEFAULT, "fakeCudaObserve");
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!observe && driver)
		observe = (void (*)(const struct fake_observer *))dlsym(driver, "fakeCudaObserve");
	if (observe)
		observe(&observer);
	return observe;
}

int cuptiSubscribe(void **subscriber, void *function, void *data)
{
	if (callback || setting("FAKE_CUPTI_BUSY", 0))
		return BUSY;
	if (!watch_driver())
		return NOT_INITIALIZED;
	callback = (void (*)(void *, uint32_t, uint32_t, const struct call_data *))function;
	callback_data = data;
	*subscriber = &callback;
	return OK;
}

int cuptiUnsubscribe(void *subscriber)
{
	callback = NULL;
	return OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id)
{
	if (domain > FAKE_RUNTIME)
		return OK; /* resources: there are none to tell of */
	if (id >= IDS)
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
	return watch_driver() ? OK : NOT_INITIALIZED;
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
		next += record_bytes(*(uint32_t *)*record);
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

int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	given_clock = clock;
	given_ns = now_ns();
	given_at = clock ? clock() : 0;
	return OK;
}

int cuptiGetCallbackName(int domain, uint32_t id, const char **ret)
{
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i].domain == domain && ids[i].id == id) {
			*ret = ids[i].name;
			return OK;
		}
	return 1;
}

int cuptiGetResultString(int result, const char **ret)
{
	*ret = result ? "an error of the fake CUPTI" : "no error";
	return OK;
}

/* Settings that change no record here. */
int cuptiActivitySetAttribute(int attribute, size_t *bytes, void *value)
{
	return OK;
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
	return OK;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *ret)
{
	if (ret)
		*ret = 0;
	return OK;
}

int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
	return OK;
}

int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
	return OK;
}

int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain)
{
	return OK;
}

int cuptiFinalize(void)
{
	callback = NULL;
	memset(enabled, 0, sizeof(enabled));
	return OK;
}
