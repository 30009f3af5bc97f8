/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/phase_interval.h"

#include "analyzer/metadata/gpu_kinds.h"

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
	case SP_LABEL_GROUP:
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
	case SP_STEP_USE_CHANGE:
		return SP_INTERVAL_CHANGE;
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
		return slot->value & SP_LOADER_ENDED ? SP_INTERVAL_NONE : SP_INTERVAL_LOADER_BEGIN;
	case SP_EV_loader_next:
		return slot->value & 1 ? SP_INTERVAL_LOADER_END : SP_INTERVAL_LOADER;
	case SP_EV_creat:
	case SP_EV_fopen_write:
		return kind_of_target(sp_process_fd_kind(image, arg));
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
		.iterator = is_loader ? slot->value & ~SP_LOADER_BITS : 0,
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

static const uint8_t accounts[SP_INTERVAL_KINDS] = {
#define SP_INTERVAL(name, account, part, apart) SP_ACCOUNT_##account,
#include "analyzer/steps/interval.def"
#undef SP_INTERVAL
};

enum sp_account_phase sp_phase_interval_phase(enum sp_phase_interval_kind kind)
{
	return accounts[kind];
}
