/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/phase_interval.h"

#include "analyzer/base/intervals.h"
#include "analyzer/metadata/gpu_kinds.h"

/* Nodes that follow each other this closely are of one backward, where no wrapped call says so. */
#define NODE_GAP_NS 1000000

static enum sp_phase_interval_kind kind_of_label(const struct sp_process_metadata *image,
						 uint32_t id)
{
	switch (sp_process_label_use(image, id)) {
	case SP_LABEL_OPTIMIZER:
		return SP_INTERVAL_OPTIMIZER;
	case SP_LABEL_ZERO_GRAD:
		return SP_INTERVAL_ZERO_GRAD;
	case SP_LABEL_LOADER:
		return SP_INTERVAL_LOADER;
	case SP_LABEL_OTHER:
	case SP_LABEL_COLLECTIVE: /* of another thread than the one that steps */
		break;
	}
	return SP_INTERVAL_NONE;
}

static const uint8_t kinds_of_phases[SP_PHASES] = {
#define SP_PHASE(name, title, interval, device, work, sampled) SP_INTERVAL_##interval,
#include "trace/phases.def"
#undef SP_PHASE
};

enum sp_phase_interval_kind sp_phase_interval_kind_of(int64_t phase)
{
	return phase >= 0 && phase < SP_PHASES ? kinds_of_phases[phase] : SP_INTERVAL_NONE;
}

static enum sp_phase_interval_kind kind_of_place(enum sp_fd_kind place)
{
	if (place == SP_FD_KIND_IPC || place == SP_FD_KIND_NET)
		return SP_INTERVAL_AWAIT;
	return place == SP_FD_KIND_FILE ? SP_INTERVAL_INPUT : SP_INTERVAL_NONE;
}

static enum sp_phase_interval_kind kind_of_target(enum sp_fd_kind place)
{
	if (place == SP_FD_KIND_NET)
		return SP_INTERVAL_SEND;
	return place == SP_FD_KIND_FILE || place == SP_FD_KIND_IPC || place == SP_FD_KIND_DEVICE
		       ? SP_INTERVAL_WRITE
		       : SP_INTERVAL_NONE;
}

static enum sp_phase_interval_kind kind_of_class(const struct sp_process_metadata *image,
						 uint32_t kind, uint32_t arg)
{
	switch (sp_class_step_use(sp_event_info(kind)->class)) {
	case SP_STEP_USE_INPUT:
		return SP_INTERVAL_INPUT;
	case SP_STEP_USE_WRITE:
		return kind_of_target(sp_process_fd_kind(image, arg));
	case SP_STEP_USE_FSYNC:
		return SP_INTERVAL_FSYNC;
	case SP_STEP_USE_FD:
		return kind_of_place(sp_process_fd_kind(image, arg));
	case SP_STEP_USE_AWAIT:
		return SP_INTERVAL_AWAIT;
	case SP_STEP_USE_COPY:
		if (sp_cuda_arg_direction(arg) == SP_COPY_TO_DEVICE)
			return SP_INTERVAL_H2D;
		return sp_gpu_copy_blocks(kind, arg) ? SP_INTERVAL_SYNC : SP_INTERVAL_NONE;
	case SP_STEP_USE_SYNC:
		return SP_INTERVAL_SYNC;
	case SP_STEP_USE_GRAD_SYNC:
		return SP_INTERVAL_GRAD_SYNC;
	case SP_STEP_USE_GRAPH:
		return SP_INTERVAL_GRAPH;
	case SP_STEP_USE_ALLOCATE:
		return sp_gpu_call_stalls(kind) ? SP_INTERVAL_ALLOCATE : SP_INTERVAL_NONE;
	case SP_STEP_USE_NONE:
		break;
	}
	return SP_INTERVAL_NONE;
}

static enum sp_phase_interval_kind kind_of(const struct sp_process_metadata *image,
					   const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit), arg = sp_commit_arg(slot->commit);

	switch (kind) {
	case SP_EV_torch_range:
		return kind_of_label(image, arg);
	case SP_EV_torch_backward:
		return SP_INTERVAL_BACKWARD;
	case SP_EV_python_call:
		return sp_phase_interval_kind_of(slot->value);
	case SP_EV_loader_begin:
		return slot->value & 1 ? SP_INTERVAL_NONE : SP_INTERVAL_LOADER_BEGIN;
	case SP_EV_loader_next:
		return slot->value & 1 ? SP_INTERVAL_LOADER_END : SP_INTERVAL_LOADER;
	case SP_EV_fork:
		return SP_INTERVAL_FORK;
	case SP_EV_munmap:
		return SP_INTERVAL_UNMAP;
	case SP_EV_recording_off:
		return SP_INTERVAL_OFF;
	}
	return kind_of_class(image, kind, arg);
}

static bool is_exchange(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	enum sp_step_use use =
		sp_class_step_use(sp_event_info(sp_commit_kind(slot->commit))->class);

	return (use == SP_STEP_USE_FD || use == SP_STEP_USE_WRITE) &&
	       sp_process_fd_kind(image, sp_commit_arg(slot->commit)) == SP_FD_KIND_NET;
}

/* A connection has an error or 0 for its value. */
static int64_t bytes_of(const struct sp_slot *slot)
{
	bool connects = sp_event_info(sp_commit_kind(slot->commit))->class == SP_CLASS_CONNECT;

	return connects || slot->value < 0 ? 0 : slot->value;
}

/* The file of a call that reads or writes one. */
static uint32_t file_of(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit), file = sp_commit_arg(slot->commit);
	enum sp_step_use use = sp_class_step_use(sp_event_info(kind)->class);

	if (use != SP_STEP_USE_FD && use != SP_STEP_USE_WRITE)
		return 0;
	return sp_process_fd_kind(image, file) == SP_FD_KIND_FILE ? file + 1 : 0;
}

bool sp_phase_interval_wants(uint32_t kind)
{
	const struct sp_event_info *info = kind < SP_EVENT_KINDS ? sp_event_info(kind) : NULL;

	if (!info || !info->name)
		return false;
	switch (kind) {
	case SP_EV_torch_range:
	case SP_EV_torch_backward:
	case SP_EV_python_call:
	case SP_EV_loader_begin:
	case SP_EV_loader_next:
	case SP_EV_fork:
	case SP_EV_munmap:
	case SP_EV_recording_off:
		return true;
	}
	return sp_gpu_call_begins_capture(kind) || sp_gpu_call_ends_capture(kind) ||
	       sp_class_step_use(info->class) != SP_STEP_USE_NONE;
}

struct sp_phase_interval sp_phase_interval_of(const struct sp_process_metadata *image,
					      const struct sp_slot *slot, int64_t start_ns,
					      int64_t end_ns)
{
	uint32_t kind = sp_commit_kind(slot->commit);
	bool is_loader = kind == SP_EV_loader_begin || kind == SP_EV_loader_next;
	bool exchanges = is_exchange(image, slot);

	return (struct sp_phase_interval){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.kind = (uint8_t)kind_of(image, slot),
		.iterator = is_loader ? slot->value & ~INT64_C(1) : 0,
		.source =
			kind == SP_EV_python_call || is_loader ? SP_FROM_WRAPPED : SP_FROM_OBSERVED,
		.bytes = exchanges ? bytes_of(slot) : 0,
		.file = file_of(image, slot),
		.label = kind == SP_EV_python_call ? sp_commit_arg(slot->commit) : 0,
		.is_exchange = exchanges,
		.is_node = kind == SP_EV_torch_backward,
		.is_sample = kind == SP_EV_python_call && slot->value == SP_PHASE_replay,
		.is_load = kind == SP_EV_python_call && slot->value == SP_PHASE_checkpoint_load,
		.is_round = kind == SP_EV_python_call && slot->value == SP_PHASE_round,
	};
}

static const struct {
	uint8_t account, part;
} intervals_of[SP_INTERVAL_KINDS] = {
#define SP_INTERVAL(name, account, part, apart) {SP_ACCOUNT_##account, SP_PART_##part},
#include "analyzer/steps/interval.def"
#undef SP_INTERVAL
};

enum sp_account_phase sp_phase_interval_phase(enum sp_phase_interval_kind kind)
{
	return intervals_of[kind].account;
}

enum sp_interval_part sp_phase_interval_part(const struct sp_phase_interval *p)
{
	return intervals_of[p->kind].part;
}

void sp_phase_interval_charge(const struct sp_phase_interval *p, enum sp_account_phase rest,
			      struct sp_account *account)
{
	/* At most its own time. */
	uint64_t inside = sp_phase_interval_inside(p);
	enum sp_account_phase phase =
		p->is_own ? SP_ACCOUNT_loader_wait : sp_phase_interval_phase(p->kind);

	if (p->is_round)
		phase = SP_ACCOUNT_update;
	if (p->kind == SP_INTERVAL_UNMAP || p->is_message)
		rest = SP_ACCOUNT_other;
	if (p->is_evaluated)
		rest = SP_ACCOUNT_evaluation;
	account->ns[SP_ACCOUNT_h2d_copy] += p->h2d_ns;
	account->ns[SP_ACCOUNT_sync_wait] += p->sync_ns;
	account->ns[SP_ACCOUNT_grad_sync] += p->grad_sync_ns;
	account->ns[SP_ACCOUNT_compile] += p->compile_ns;
	account->ns[SP_ACCOUNT_checkpoint] += p->checkpoint_ns;
	account->ns[SP_ACCOUNT_loader_wait] += p->loader_ns;
	account->ns[SP_ACCOUNT_optimizer] += p->optimizer_ns;
	account->ns[SP_ACCOUNT_zero_grad] += p->zero_grad_ns;
	account->ns[phase == SP_ACCOUNT_other ? rest : phase] +=
		(uint64_t)(p->end_ns - p->start_ns) - inside;
}

static uint64_t own_ns_of(const struct sp_phase_interval *p)
{
	return (uint64_t)(p->end_ns - p->start_ns) - sp_phase_interval_inside(p);
}

static void contain_zero_grad(struct sp_phase_interval *outer,
			      const struct sp_phase_interval *inner)
{
	outer->zero_grad_ns += inner->zero_grad_ns;
	if (inner->kind == SP_INTERVAL_ZERO_GRAD)
		outer->zero_grad_ns += own_ns_of(inner);
}

/* Hooks of weights may step optimizers in a backward. */
static void contain_update(struct sp_phase_interval *outer, const struct sp_phase_interval *inner)
{
	contain_zero_grad(outer, inner);
	outer->optimizer_ns += inner->optimizer_ns;
	if (inner->kind == SP_INTERVAL_OPTIMIZER)
		outer->optimizer_ns += own_ns_of(inner);
}

static bool optimizes(const struct sp_phase_interval *p)
{
	return p->kind == SP_INTERVAL_OPTIMIZER || p->kind == SP_INTERVAL_OPTIMIZER_PART;
}

/* A method of an optimizer that steps it, or the optimizer that it wraps, is the step. A scaler's
 * step is one, whether it calls the optimizer or skips it. */
static void note_step(const struct sp_phase_interval *intervals, uint32_t first, uint32_t n,
		      struct sp_phase_interval *interval)
{
	bool is_scaled = interval->kind == SP_INTERVAL_SCALED_STEP, has_step = false;

	if (!is_scaled && interval->kind != SP_INTERVAL_OPTIMIZER_PART)
		return;
	for (uint32_t i = first; i < n; i++)
		has_step |= intervals[i].kind == SP_INTERVAL_OPTIMIZER;
	if (has_step || is_scaled)
		interval->kind = SP_INTERVAL_OPTIMIZER;
	interval->is_skipped = is_scaled && !has_step;
}

/* A save by a signal handler inside of a call; not the call's wait for the lock of a thread that
 * saves meanwhile. */
static bool is_own_save(const struct sp_phase_interval *inner)
{
	return inner->kind == SP_INTERVAL_CHECKPOINT && inner->label && !inner->is_load;
}

/* Waiting for batches and writing checkpoints stay whole, whatever they wait for inside. */
static void contain(struct sp_phase_interval *outer, const struct sp_phase_interval *inner)
{
	uint64_t ns = (uint64_t)(inner->end_ns - inner->start_ns);

	outer->has_fetch |= inner->kind == SP_INTERVAL_FETCH || inner->has_fetch;
	/* PyTorch's own mark says the same. */
	if (outer->iterator && inner->source == SP_FROM_OBSERVED)
		outer->source = SP_FROM_OBSERVED;
	if (outer->is_load && inner->file)
		outer->file = inner->file;
	if (sp_phase_interval_phase(outer->kind) == SP_ACCOUNT_loader_wait ||
	    outer->kind == SP_INTERVAL_CHECKPOINT)
		return;
	if (outer->kind == SP_INTERVAL_UPDATE &&
	    sp_phase_interval_phase(inner->kind) == SP_ACCOUNT_loader_wait) {
		outer->loader_ns += ns;
		return;
	}
	outer->lock_ns += inner->lock_ns;
	outer->checkpoint_ns += inner->checkpoint_ns;
	if (sp_phase_interval_computes(outer) && is_own_save(inner)) {
		outer->checkpoint_ns += ns;
		return;
	}
	outer->h2d_ns += inner->kind == SP_INTERVAL_H2D ? ns : inner->h2d_ns;
	outer->sync_ns += inner->kind == SP_INTERVAL_SYNC ? ns : inner->sync_ns;
	outer->grad_sync_ns += inner->kind == SP_INTERVAL_GRAD_SYNC ? ns : inner->grad_sync_ns;
	outer->compile_ns += inner->kind == SP_INTERVAL_COMPILE
				     ? ns - inner->h2d_ns - inner->sync_ns - inner->grad_sync_ns -
					       inner->checkpoint_ns
				     : inner->compile_ns;
	if (outer->kind == SP_INTERVAL_BACKWARD)
		outer->node_ns += inner->is_node ? ns - inner->grad_sync_ns : inner->node_ns;
	if (outer->kind == SP_INTERVAL_BACKWARD)
		contain_update(outer, inner);
	else if (optimizes(outer))
		contain_zero_grad(outer, inner);
}

/* Cuts an interval that overlaps another without lying inside it. Ranges of two threads and damaged
 * traces make such intervals. */
static void keep_order(const struct sp_phase_interval *intervals, uint32_t first, uint32_t n,
		       struct sp_phase_interval *interval)
{
	if (first > 0 && intervals[first - 1].end_ns > interval->start_ns)
		interval->start_ns = intervals[first - 1].end_ns;
	if (first < n && intervals[n - 1].end_ns > interval->end_ns)
		interval->end_ns = intervals[n - 1].end_ns;
	if (interval->end_ns < interval->start_ns)
		interval->end_ns = interval->start_ns;
}

/* The index of the interval that begins the next round of a closure; i where there is none. */
static uint32_t next_round(const struct sp_phase_interval *intervals, uint32_t i, uint32_t n)
{
	for (uint32_t k = i + 1; k < n && intervals[k].kind != SP_INTERVAL_BACKWARD; k++)
		if (intervals[k].kind == SP_INTERVAL_ZERO_GRAD ||
		    sp_phase_interval_is_forward(&intervals[k]))
			return k;
	return i;
}

/* The time between two rounds of a closure belongs to the optimizer. */
static void note_optimizer(struct sp_phase_interval *intervals, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < n; i++) {
		uint32_t next =
			intervals[i].kind == SP_INTERVAL_BACKWARD ? next_round(intervals, i, n) : i;

		for (; i < next; i++)
			intervals[i].optimizer_follows = true;
	}
}

/*
 * From the last backward inside it on: an optimizer that calls a closure runs forward and backward
 * inside.
 */
static uint32_t skip_closure(struct sp_phase_interval *intervals, uint32_t first, uint32_t n,
			     struct sp_phase_interval *interval)
{
	for (uint32_t i = n; i > first; i--) {
		if (intervals[i - 1].kind == SP_INTERVAL_BACKWARD) {
			interval->start_ns = intervals[i - 1].end_ns;
			note_optimizer(intervals, first, i);
			return i;
		}
	}
	return first;
}

static bool joins_node(const struct sp_phase_interval *last,
		       const struct sp_phase_interval *interval)
{
	return interval->is_node && last->is_node && interval->start_ns >= last->end_ns &&
	       interval->start_ns - last->end_ns <= NODE_GAP_NS;
}

static void join(struct sp_phase_interval *last, const struct sp_phase_interval *interval)
{
	last->end_ns = interval->end_ns;
	last->h2d_ns += interval->h2d_ns;
	last->sync_ns += interval->sync_ns;
	last->grad_sync_ns += interval->grad_sync_ns;
	last->compile_ns += interval->compile_ns;
	last->checkpoint_ns += interval->checkpoint_ns;
	last->lock_ns += interval->lock_ns;
	last->optimizer_ns += interval->optimizer_ns;
	last->zero_grad_ns += interval->zero_grad_ns;
}

uint32_t sp_phase_interval_put(struct sp_phase_interval *intervals, uint32_t n,
			       struct sp_phase_interval interval)
{
	uint32_t first = SP_NEST_FIRST(intervals, n, start_ns, interval.start_ns);

	note_step(intervals, first, n, &interval);
	if (optimizes(&interval))
		first = skip_closure(intervals, first, n, &interval);
	for (uint32_t i = first; i < n; i++)
		contain(&interval, &intervals[i]);
	keep_order(intervals, first, n, &interval);
	if (first > 0 && first == n && joins_node(&intervals[first - 1], &interval)) {
		join(&intervals[first - 1], &interval);
		return first;
	}
	intervals[first] = interval;
	return first + 1;
}
