/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cupti_records.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "preload/sys/clock.h"
#include "preload/sys/memory.h"
#include "preload/recorder/intern.h"
#include "preload/recorder/emit.h"
#include "preload/recorder/thread.h"
#include "trace/events.h"

#define LAUNCHES 65536u /* kept at the same time; a power of two */
#define CLOCK_TRIES 16u
#define BUFFERS_ALL (~UINT64_C(0) >> (64 - SP_CUPTI_BUFFERS))

/* Work that began before this one was given: the correlation is stored last. */
struct launch {
	uint32_t correlation, tid;
	uint64_t ticks; /* 0: while recording was off */
};

/* The trace's clock and CUPTI's, at one instant. */
struct pair {
	uint64_t ticks, ns;
};

static struct {
	const struct sp_cupti *cupti;
	uint8_t *buffers;
	uint64_t free; /* a bit a buffer */
	struct launch *launches;
	pthread_mutex_t lock; /* of all below */
	struct sp_thread *out;
	struct pair before, now;
	uint64_t error_ticks;
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The middle of the shortest of several readings. */
static struct pair clocks_read(void)
{
	struct pair best = {0, 0};
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < CLOCK_TRIES; i++) {
		uint64_t begin = sp_clock_ticks(), end, ns = 0;

		records.cupti->cuptiGetTimestamp(&ns);
		end = sp_clock_ticks();
		if (end - begin >= least)
			continue;
		least = end - begin;
		best = (struct pair){begin + least / 2, ns};
	}
	if (least > records.error_ticks)
		records.error_ticks = least;
	return best;
}

uint64_t sp_cupti_clock_error_ns(void)
{
	return sp_clock_span_ns(records.error_ticks);
}

/* On the line through the last two readings: CUPTI's clock may be adjusted meanwhile. */
static uint64_t ticks_of(uint64_t ns)
{
	int64_t span_ns = (int64_t)(records.now.ns - records.before.ns);
	int64_t span = (int64_t)(records.now.ticks - records.before.ticks);
	int64_t since = (int64_t)(ns - records.now.ns);
	uint64_t ticks;

	if (span_ns < 1000000) {
		span_ns = 1000000000;
		span = (int64_t)sp_recorder_clock.ticks_per_second;
	}
	ticks = records.now.ticks + (uint64_t)((__int128)since * span / span_ns);
	return sp_recorder_clock.counter ? ticks & sp_recorder_clock.keep : ticks;
}

int sp_cupti_records_begin(const struct sp_cupti *cupti)
{
	size_t bytes = SP_CUPTI_BUFFERS * SP_CUPTI_BUFFER_BYTES;

	records.cupti = cupti;
	records.buffers = sp_pages_make(bytes);
	records.launches = sp_pages_make(LAUNCHES * sizeof(*records.launches));
	records.out = sp_device_recorder_begin();
	if (!records.buffers || !records.launches || !records.out)
		return -ENOMEM;
	records.before = records.now = clocks_read();
	__atomic_store_n(&records.free, BUFFERS_ALL, __ATOMIC_RELEASE);
	return 0;
}

void sp_cupti_records_end(void)
{
	pthread_mutex_lock(&records.lock);
	if (records.out)
		sp_device_recorder_finish(records.out);
	records.out = NULL;
	pthread_mutex_unlock(&records.lock);
}

void sp_cupti_buffer_request(uint8_t **buffer, size_t *bytes, size_t *count)
{
	uint64_t free = __atomic_load_n(&records.free, __ATOMIC_ACQUIRE);

	*buffer = NULL;
	*bytes = 0;
	*count = 0;
	while (free && !__atomic_compare_exchange_n(&records.free, &free, free & (free - 1), 1,
						    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	if (!free)
		return;
	*buffer = records.buffers + (size_t)__builtin_ctzll(free) * SP_CUPTI_BUFFER_BYTES;
	*bytes = SP_CUPTI_BUFFER_BYTES;
}

static void buffer_give(const uint8_t *buffer)
{
	size_t number = (size_t)(buffer - records.buffers) / SP_CUPTI_BUFFER_BYTES;

	__atomic_or_fetch(&records.free, UINT64_C(1) << number, __ATOMIC_RELEASE);
}

void sp_cupti_launch_note(uint32_t correlation, uint32_t tid, uint64_t ticks, int is_off)
{
	struct launch *launch = &records.launches[correlation % LAUNCHES];

	__atomic_store_n(&launch->correlation, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&launch->tid, tid, __ATOMIC_RELAXED);
	__atomic_store_n(&launch->ticks, is_off ? 0 : ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&launch->correlation, correlation, __ATOMIC_RELEASE);
}

/* Returns 0 if the entry holds another launch by now. */
static int launch_read(uint32_t correlation, struct launch *ret)
{
	struct launch *launch = &records.launches[correlation % LAUNCHES];

	if (__atomic_load_n(&launch->correlation, __ATOMIC_ACQUIRE) != correlation)
		return 0;
	ret->tid = __atomic_load_n(&launch->tid, __ATOMIC_RELAXED);
	ret->ticks = __atomic_load_n(&launch->ticks, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&launch->correlation, __ATOMIC_RELAXED) == correlation;
}

/* One activity of a GPU, from any kind of record. */
struct gpu_activity {
	uint32_t kind, arg; /* of the event */
	int64_t value;
	uint64_t start, end; /* CUPTI's ns */
	uint32_t device, stream, correlation;
};

static void lost_emit(uint64_t count)
{
	if (count)
		sp_emit(records.out, SP_EV_gpu_lost, 0, records.before.ticks,
			records.now.ticks - records.before.ticks, (int64_t)count);
}

/* Returns 0 if the activity has no time: it was not done yet, or the GPU had no memory for it. */
static int activity_emit(const struct gpu_activity *activity)
{
	struct launch launch = {activity->correlation, 0, 0};
	int known = launch_read(activity->correlation, &launch);
	uint64_t begin, extra[3];

	if (!activity->start || activity->end < activity->start)
		return 0;
	if (known && !launch.ticks)
		return 1;
	begin = ticks_of(activity->start);
	extra[0] = (uint64_t)activity->device << 32 | activity->stream;
	extra[1] = (uint64_t)(known ? launch.tid : 0) << 32 | activity->correlation;
	extra[2] = known ? launch.ticks : 0;
	sp_emit_extra(records.out, activity->kind, activity->arg, begin,
		      ticks_of(activity->end) - begin, activity->value, extra);
	return 1;
}

static uint32_t direction_of(uint8_t direction)
{
	/* CUpti_ActivityMemcpyKind; an array is on the device. */
	static const uint8_t directions[] = {SP_COPY_UNKNOWN,	SP_COPY_TO_DEVICE,
					     SP_COPY_TO_HOST,	SP_COPY_TO_DEVICE,
					     SP_COPY_TO_HOST,	SP_COPY_ON_DEVICE,
					     SP_COPY_ON_DEVICE, SP_COPY_ON_DEVICE,
					     SP_COPY_ON_DEVICE, SP_COPY_HOST_TO_HOST,
					     SP_COPY_ON_DEVICE};

	return direction < sizeof(directions) ? directions[direction] : SP_COPY_UNKNOWN;
}

static uint32_t copy_arg(const struct sp_cupti_memcpy *copy)
{
	uint32_t direction = direction_of(copy->direction), host = SP_COPY_HOST_UNKNOWN;
	uint8_t memory = direction == SP_COPY_TO_DEVICE ? copy->source
			 : direction == SP_COPY_TO_HOST ? copy->target
							: 0;

	if (memory == SP_CUPTI_PAGEABLE)
		host = SP_COPY_HOST_PAGEABLE;
	else if (memory == SP_CUPTI_PINNED)
		host = SP_COPY_HOST_PINNED;
	return sp_cuda_arg_make(0, direction, host);
}

static struct gpu_activity activity_of_kernel(const struct sp_cupti_kernel *k)
{
	const char *name = k->name ? k->name : "";

	return (struct gpu_activity){SP_EV_gpu_kernel,
				     sp_intern(records.out, name, strlen(name)),
				     0,
				     k->start,
				     k->end,
				     k->device,
				     k->stream,
				     k->correlation};
}

/* Returns 1 if the record is of work on the GPU. */
static int activity_of(const void *record, struct gpu_activity *ret)
{
	const struct sp_cupti_memcpy *copy = record;
	const struct sp_cupti_memcpy_peer *peer = record;
	const struct sp_cupti_memset *set = record;

	switch (*(const uint32_t *)record) {
	case SP_CUPTI_KERNEL:
		*ret = activity_of_kernel(record);
		return 1;
	case SP_CUPTI_MEMCPY:
		*ret = (struct gpu_activity){SP_EV_gpu_copy, copy_arg(copy),   (int64_t)copy->bytes,
					     copy->start,    copy->end,	       copy->device,
					     copy->stream,   copy->correlation};
		return 1;
	case SP_CUPTI_MEMCPY_PEER:
		*ret = (struct gpu_activity){SP_EV_gpu_copy,
					     sp_cuda_arg_make(0, SP_COPY_ON_DEVICE, 0),
					     (int64_t)peer->bytes,
					     peer->start,
					     peer->end,
					     peer->device,
					     peer->stream,
					     peer->correlation};
		return 1;
	case SP_CUPTI_MEMSET:
		*ret = (struct gpu_activity){SP_EV_gpu_memset,
					     sp_cuda_arg_make(0, 0, 0),
					     (int64_t)set->bytes,
					     set->start,
					     set->end,
					     set->device,
					     set->stream,
					     set->correlation};
		return 1;
	}
	return 0;
}

static void buffer_read(uint8_t *buffer, size_t used)
{
	uint64_t lost = 0;
	size_t dropped = 0;
	void *record = NULL;
	struct gpu_activity activity;

	records.now = clocks_read();
	while (records.cupti->cuptiActivityGetNextRecord(buffer, used, &record) == 0)
		if (activity_of(record, &activity) && !activity_emit(&activity))
			lost++;
	if (records.cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == 0)
		lost += dropped;
	lost_emit(lost);
	records.before = records.now;
}

void sp_cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t used)
{
	int kept = errno;

	(void)context;
	(void)stream;
	(void)bytes;
	if (!buffer ||
	    (size_t)(buffer - records.buffers) >= SP_CUPTI_BUFFERS * SP_CUPTI_BUFFER_BYTES)
		return;
	pthread_mutex_lock(&records.lock);
	if (records.out && records.out->state == SP_THREAD_LIVE)
		buffer_read(buffer, used);
	pthread_mutex_unlock(&records.lock);
	buffer_give(buffer);
	errno = kept;
}
