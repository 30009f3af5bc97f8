/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/gpu_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "analyzer/base/each.h"
#include "analyzer/base/order.h"
#include "analyzer/metadata/run.h"
#include "analyzer/metadata/stage.h"
#include "analyzer/training/training.h"
#include "analyzer/base/grow.h"

#define CHANGES_MAX (1u << 22)

enum memory_kind { NO_MEMORY, DEVICE, DEVICE_HANDLE, PINNED };

/* bytes > 0: allocated; 0: freed; -1: all memory of the process was freed. */
struct change {
	int64_t at_ns, bytes;
	uint32_t address;
	uint8_t memory; /* enum memory_kind */
};

struct block {
	UT_hash_handle hh;
	uint64_t key, bytes;
	bool is_pinned;
};

struct gpu_calls_pass {
	struct sp_gpu_calls *calls;
	const struct sp_steps *steps;
	struct sp_event_reader events;
	struct change *changes;
	uint32_t change_count, change_room;
	bool is_out_of_memory;
};

static enum memory_kind memory_of(uint32_t kind)
{
	switch (kind) {
	case SP_EV_cuMemCreate:
	case SP_EV_cuMemRelease:
	case SP_EV_hipMemCreate:
	case SP_EV_hipMemRelease:
		return DEVICE_HANDLE;
	case SP_EV_cudaMalloc:
	case SP_EV_cudaMallocAsync:
	case SP_EV_cudaFree:
	case SP_EV_cudaFreeAsync:
	case SP_EV_cuMemAlloc:
	case SP_EV_cuMemAllocAsync:
	case SP_EV_cuMemFree:
	case SP_EV_cuMemFreeAsync:
	case SP_EV_hipMalloc:
	case SP_EV_hipMallocAsync:
	case SP_EV_hipFree:
	case SP_EV_hipFreeAsync:
		return DEVICE;
	}
	return PINNED;
}

static void add_change(struct gpu_calls_pass *pass, struct change change)
{
	struct change *added;

	if (pass->change_count == CHANGES_MAX) {
		pass->calls->unmatched++;
		return;
	}
	added = SP_LIST_ADD(pass->changes, pass->change_count, pass->change_room);
	pass->is_out_of_memory |= !added;
	if (added)
		*added = change;
}

static void take_memory(struct gpu_calls_pass *pass, const struct sp_slot *slot, uint8_t class,
			int64_t start_ns, int64_t end_ns)
{
	uint32_t kind = sp_commit_kind(slot->commit);
	bool made = class == SP_CLASS_CUDA_MALLOC;
	struct change change = {
		.at_ns = made ? end_ns : start_ns,
		.bytes = made ? slot->value : 0,
		.address = sp_commit_arg(slot->commit),
		.memory = (uint8_t)memory_of(kind),
	};

	if (class == SP_CLASS_CUDA_RESET)
		change.bytes = -1;
	if (slot->value >= 0 && (slot->value > 0 || !made) && (change.address || change.bytes < 0))
		add_change(pass, change);
}

static void count_call(struct sp_gpu_call_sums *sums, const struct sp_slot *slot, uint8_t class,
		       uint64_t ns)
{
	uint32_t kind = sp_commit_kind(slot->commit), arg = sp_commit_arg(slot->commit);
	bool moves = class == SP_CLASS_CUDA_COPY || class == SP_CLASS_CUDA_MEMSET;
	uint64_t bytes = slot->value > 0 ? (uint64_t)slot->value : 0;

	sums->launches += class == SP_CLASS_CUDA_LAUNCH || class == SP_CLASS_CUDA_GRAPH;
	sums->copies += class == SP_CLASS_CUDA_COPY;
	sums->sets += class == SP_CLASS_CUDA_MEMSET;
	sums->syncs += class == SP_CLASS_CUDA_SYNC;
	sums->other += !moves && class != SP_CLASS_CUDA_LAUNCH && class != SP_CLASS_CUDA_GRAPH &&
		       class != SP_CLASS_CUDA_SYNC;
	sums->blocking += sp_gpu_copy_blocks(kind, arg);
	sums->bytes += class == SP_CLASS_CUDA_COPY ? bytes : 0;
	sums->set_bytes += class == SP_CLASS_CUDA_MEMSET ? bytes : 0;
	sums->host_ns += ns;
}

static void count_stall(struct sp_gpu_calls *calls, uint32_t kind, uint64_t ns)
{
	unsigned i = sp_gpu_stall_index(kind);
	struct sp_gpu_stall *stall = calls->stalls + i;

	if (i == SP_GPU_STALL_KINDS)
		return;
	stall->kind = kind;
	stall->calls++;
	stall->total_ns += ns;
	stall->max_ns = ns > stall->max_ns ? ns : stall->max_ns;
}

static void take(struct gpu_calls_pass *pass, const struct sp_read_event *event)
{
	const struct sp_slot *slot = event->slot;
	uint8_t class = event->info->class;
	int64_t start_ns = sp_event_start_ns(&pass->events, event);
	int64_t end_ns = sp_event_end_ns(&pass->events, event);
	uint64_t ns = sp_interval_ns(start_ns, end_ns);
	bool in_step = sp_steps_at(pass->steps, start_ns) < pass->steps->count;
	const struct sp_phase_segment *around =
		sp_thread_timeline_at(&pass->steps->timeline, start_ns);

	if (!sp_gpu_call_is_cuda(class))
		return;
	count_call(&pass->calls->phases[around ? around->within : SP_GPU_NO_STEP], slot, class, ns);
	if (class == SP_CLASS_CUDA_MALLOC || class == SP_CLASS_CUDA_FREE ||
	    class == SP_CLASS_CUDA_RESET)
		take_memory(pass, slot, class, start_ns, end_ns);
	if (in_step || !pass->steps->count)
		count_stall(pass->calls, event->kind, ns);
}

static int read_streams(struct gpu_calls_pass *pass, const struct sp_run *run, uint32_t image)
{
	const struct sp_index *index = &run->index;
	struct sp_reader reader;
	struct sp_read_event event;

	if (sp_reader_init(&reader) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < index->stream_count; i++) {
		if (index->streams[i]->image != image)
			continue;
		sp_event_reader_open(&pass->events, &reader, index, index->streams[i]);
		while (sp_event_reader_next(&pass->events, &event))
			take(pass, &event);
	}
	sp_reader_finish(&reader);
	return pass->is_out_of_memory ? -ENOMEM : 0;
}

/* At one instant the free comes before the allocation, because both may have the same address. */
SP_ORDER(compare_changes, struct change, SP_UP(at_ns) ?: SP_UP(bytes))

struct in_use {
	struct block *blocks;
	uint64_t bytes, pinned_bytes, unmatched;
	bool is_out_of_memory;
};

static void forget(struct in_use *now, struct block *block)
{
	*(block->is_pinned ? &now->pinned_bytes : &now->bytes) -= block->bytes;
	HASH_DEL(now->blocks, block);
	free(block);
}

static void forget_all(struct in_use *now)
{
	struct block *block, *next;

	HASH_ITER(hh, now->blocks, block, next)
	forget(now, block);
}

static void apply(struct in_use *now, const struct change *change)
{
	uint64_t key = change->address | (uint64_t)(change->memory == DEVICE_HANDLE) << 32;
	struct block *block;

	if (change->bytes < 0) {
		forget_all(now);
		return;
	}
	HASH_FIND(hh, now->blocks, &key, sizeof(key), block);
	if (block)
		forget(now, block);
	else
		now->unmatched += change->bytes == 0;
	if (change->bytes == 0)
		return;
	block = calloc(1, sizeof(*block));
	now->is_out_of_memory |= !block;
	if (!block)
		return;
	block->key = key;
	block->bytes = (uint64_t)change->bytes;
	block->is_pinned = change->memory == PINNED;
	HASH_ADD(hh, now->blocks, key, sizeof(key), block);
	*(block->is_pinned ? &now->pinned_bytes : &now->bytes) += block->bytes;
}

static bool saw_device_memory(const struct gpu_calls_pass *pass)
{
	return SP_ANY(i, pass->change_count,
		      pass->changes[i].bytes > 0 && pass->changes[i].memory != PINNED);
}

static void raise(uint64_t *peak, uint64_t bytes)
{
	*peak = bytes > *peak ? bytes : *peak;
}

/* Up to the end of a step; with all that is left, after the last one. */
static uint32_t replay_step(struct gpu_calls_pass *pass, struct in_use *now, uint32_t next,
			    const struct sp_step *step, uint64_t *ret_peak)
{
	for (; next < pass->change_count; next++) {
		const struct change *change = &pass->changes[next];
		uint64_t before = now->bytes;

		if (step && change->at_ns >= step->end_ns)
			break;
		apply(now, change);
		raise(&pass->calls->peak_bytes, now->bytes);
		raise(&pass->calls->pinned_peak_bytes, now->pinned_bytes);
		if (step && change->at_ns >= step->start_ns)
			raise(ret_peak, before > now->bytes ? before : now->bytes);
	}
	raise(ret_peak, now->bytes);
	return next;
}

static void replay(struct gpu_calls_pass *pass, struct in_use *now)
{
	struct sp_gpu_calls *calls = pass->calls;
	uint64_t peak = 0;
	uint32_t next = 0;

	for (uint32_t i = 0; i < pass->steps->count; i++, peak = 0) {
		next = replay_step(pass, now, next, &pass->steps->steps[i], &peak);
		calls->steps[i] = (struct sp_gpu_memory_step){now->bytes, peak};
	}
	replay_step(pass, now, next, NULL, &peak);
	calls->end_bytes = now->bytes;
	calls->unmatched += now->unmatched;
}

static int replay_changes(struct gpu_calls_pass *pass)
{
	struct in_use now = {.bytes = 0};

	if (!saw_device_memory(pass))
		return 0;
	pass->calls->steps = calloc(pass->steps->count + 1u, sizeof(*pass->calls->steps));
	if (!pass->calls->steps)
		return -ENOMEM;
	qsort(pass->changes, pass->change_count, sizeof(*pass->changes), compare_changes);
	replay(pass, &now);
	forget_all(&now);
	return now.is_out_of_memory ? -ENOMEM : 0;
}

static const struct sp_trainer no_trainer;

int sp_gpu_calls_read(struct sp_gpu_calls *calls, const struct sp_run *run, uint32_t image,
		      const struct sp_trainer *trainer)
{
	const struct sp_trainer *own = trainer ? trainer : &no_trainer;
	struct gpu_calls_pass pass = {
		.calls = calls,
		.steps = &own->steps,
	};
	int ret;

	*calls = (struct sp_gpu_calls){.steps = NULL};
	ret = read_streams(&pass, run, image);
	if (ret == 0)
		ret = replay_changes(&pass);
	free(pass.changes);
	if (ret < 0)
		sp_gpu_calls_finish(calls);
	return ret;
}

void sp_gpu_calls_finish(struct sp_gpu_calls *calls)
{
	free(calls->steps);
	calls->steps = NULL;
}
