#include "analyzer/step_piece.h"

#include "analyzer/gpu_calls.h"

/* Nodes that follow each other this closely are of one backward, where no wrapped call says so. */
#define NODE_GAP_NS 1000000

static enum sp_piece_kind kind_of_label(const struct sp_image_facts *image, uint32_t id)
{
	switch (sp_image_label_use(image, id)) {
	case SP_LABEL_OPTIMIZER:
		return SP_PIECE_OPTIMIZER;
	case SP_LABEL_ZERO_GRAD:
		return SP_PIECE_ZERO_GRAD;
	case SP_LABEL_LOADER:
		return SP_PIECE_LOADER;
	case SP_LABEL_OTHER:
	case SP_LABEL_COLLECTIVE: /* of another thread than the one that steps */
		break;
	}
	return SP_PIECE_NONE;
}

static enum sp_piece_kind kind_of_part(int64_t part)
{
	switch (part) {
	case SP_PART_loader_next:
		return SP_PIECE_LOADER;
	case SP_PART_loader_fetch:
		return SP_PIECE_FETCH;
	case SP_PART_backward:
		return SP_PIECE_BACKWARD;
	case SP_PART_optimizer:
		return SP_PIECE_OPTIMIZER;
	case SP_PART_zero_grad:
		return SP_PIECE_ZERO_GRAD;
	case SP_PART_compile:
		return SP_PIECE_COMPILE;
	case SP_PART_decode_image:
	case SP_PART_decode_png:
	case SP_PART_decode_video:
		return SP_PIECE_INPUT;
	case SP_PART_checkpoint_save:
	case SP_PART_checkpoint_load:
		return SP_PIECE_CHECKPOINT;
	}
	return SP_PIECE_NONE;
}

static enum sp_piece_kind kind_of_place(enum sp_place place)
{
	if (place == SP_PLACE_IPC)
		return SP_PIECE_AWAIT;
	return place == SP_PLACE_FILE ? SP_PIECE_INPUT : SP_PIECE_NONE;
}

/* Whatever the file is that it is made of. */
static bool makes_input(enum sp_class class)
{
	switch (class) {
	case SP_CLASS_JPEG:
	case SP_CLASS_PNG:
	case SP_CLASS_WEBP:
	case SP_CLASS_VIDEO:
	case SP_CLASS_DECOMPRESS:
	case SP_CLASS_HDF5_OPEN:
	case SP_CLASS_HDF5_READ:
		return true;
	default:
		return false;
	}
}

static enum sp_piece_kind kind_of_class(const struct sp_image_facts *image, uint32_t kind, uint32_t arg)
{
	enum sp_class class = sp_event_info(kind)->class;

	switch (class) {
	case SP_CLASS_WAIT:
		return SP_PIECE_AWAIT;
	case SP_CLASS_OPEN:
	case SP_CLASS_READ:
		return kind_of_place(sp_image_place(image, arg));
	case SP_CLASS_CUDA_COPY:
		if (sp_cuda_arg_direction(arg) == SP_COPY_TO_DEVICE)
			return SP_PIECE_H2D;
		return sp_gpu_copy_blocks(kind, arg) ? SP_PIECE_SYNC : SP_PIECE_NONE;
	case SP_CLASS_CUDA_SYNC:
		return SP_PIECE_SYNC;
	case SP_CLASS_NCCL:
		return SP_PIECE_GRAD_SYNC;
	case SP_CLASS_CUDA_GRAPH:
		return SP_PIECE_GRAPH;
	default:
		return makes_input(class) ? SP_PIECE_INPUT : SP_PIECE_NONE;
	}
}

static enum sp_piece_kind kind_of(const struct sp_image_facts *image, const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit), arg = sp_commit_arg(slot->commit);

	switch (kind) {
	case SP_EV_torch_range:
		return kind_of_label(image, arg);
	case SP_EV_torch_backward:
		return SP_PIECE_BACKWARD;
	case SP_EV_python_call:
		return kind_of_part(slot->value);
	case SP_EV_loader_begin:
		return slot->value & 1 ? SP_PIECE_NONE : SP_PIECE_LOADER_BEGIN;
	case SP_EV_loader_next:
		return slot->value & 1 ? SP_PIECE_LOADER_END : SP_PIECE_LOADER;
	case SP_EV_fork:
		return SP_PIECE_FORK;
	case SP_EV_munmap:
		return SP_PIECE_UNMAP;
	case SP_EV_recording_off:
		return SP_PIECE_OFF;
	case SP_EV_cond_wait:
		return SP_PIECE_GRAD_SYNC;
	}
	return kind_of_class(image, kind, arg);
}

bool sp_cutter_wants(uint32_t kind)
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
	case SP_EV_cudaStreamBeginCapture:
	case SP_EV_cuStreamBeginCapture:
	case SP_EV_cudaStreamEndCapture:
	case SP_EV_cuStreamEndCapture:
		return true;
	}
	switch (info->class) {
	case SP_CLASS_CUDA_GRAPH:
	case SP_CLASS_CUDA_COPY:
	case SP_CLASS_CUDA_SYNC:
	case SP_CLASS_NCCL:
	case SP_CLASS_WAIT:
	case SP_CLASS_OPEN:
	case SP_CLASS_READ:
		return true;
	}
	return makes_input(info->class);
}

struct sp_piece sp_piece_of(const struct sp_image_facts *image, const struct sp_slot *slot,
			    int64_t start_ns, int64_t end_ns)
{
	uint32_t kind = sp_commit_kind(slot->commit);
	bool is_loader = kind == SP_EV_loader_begin || kind == SP_EV_loader_next;

	return (struct sp_piece){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.kind = (uint8_t)kind_of(image, slot),
		.iterator = is_loader ? slot->value & ~INT64_C(1) : 0,
		.source = kind == SP_EV_python_call || is_loader ? SP_FROM_WRAPPED : SP_FROM_OBSERVED,
		.is_node = kind == SP_EV_torch_backward,
	};
}

enum sp_account_part sp_piece_part(enum sp_piece_kind kind)
{
	switch (kind) {
	case SP_PIECE_LOADER:
	case SP_PIECE_LOADER_BEGIN:
	case SP_PIECE_LOADER_END:
		return SP_ACCOUNT_loader_wait;
	case SP_PIECE_BACKWARD:
		return SP_ACCOUNT_backward;
	case SP_PIECE_OPTIMIZER:
		return SP_ACCOUNT_optimizer;
	case SP_PIECE_ZERO_GRAD:
		return SP_ACCOUNT_zero_grad;
	case SP_PIECE_CHECKPOINT:
		return SP_ACCOUNT_checkpoint;
	case SP_PIECE_H2D:
		return SP_ACCOUNT_h2d_copy;
	case SP_PIECE_SYNC:
		return SP_ACCOUNT_sync_wait;
	case SP_PIECE_GRAD_SYNC:
		return SP_ACCOUNT_grad_sync;
	case SP_PIECE_NONE:
	case SP_PIECE_FETCH:
	case SP_PIECE_GRAPH:
	case SP_PIECE_COMPILE:
	case SP_PIECE_AWAIT:
	case SP_PIECE_INPUT:
	case SP_PIECE_FORK:
	case SP_PIECE_UNMAP:
	case SP_PIECE_OFF:
		break;
	}
	return SP_ACCOUNT_other;
}

bool sp_piece_is_structure(const struct sp_piece *p)
{
	return sp_piece_part(p->kind) == SP_ACCOUNT_loader_wait || p->kind == SP_PIECE_BACKWARD ||
	       p->kind == SP_PIECE_OPTIMIZER || p->kind == SP_PIECE_GRAPH;
}

void sp_piece_charge(const struct sp_piece *p, enum sp_account_part rest,
		     struct sp_account *account)
{
	uint64_t inside = p->h2d_ns + p->sync_ns + p->grad_sync_ns; /* at most its own time */
	enum sp_account_part part = p->is_own ? SP_ACCOUNT_loader_wait : sp_piece_part(p->kind);

	if (p->kind == SP_PIECE_UNMAP)
		rest = SP_ACCOUNT_other;
	account->ns[SP_ACCOUNT_h2d_copy] += p->h2d_ns;
	account->ns[SP_ACCOUNT_sync_wait] += p->sync_ns;
	account->ns[SP_ACCOUNT_grad_sync] += p->grad_sync_ns;
	account->ns[part == SP_ACCOUNT_other ? rest : part] +=
		(uint64_t)(p->end_ns - p->start_ns) - inside;
}

/* Waiting for batches and writing checkpoints stay whole, whatever they wait for inside. */
static void contain(struct sp_piece *outer, const struct sp_piece *inner)
{
	uint64_t ns = (uint64_t)(inner->end_ns - inner->start_ns);

	outer->has_fetch |= inner->kind == SP_PIECE_FETCH || inner->has_fetch;
	/* PyTorch's own mark says the same. */
	if (outer->iterator && inner->source == SP_FROM_OBSERVED)
		outer->source = SP_FROM_OBSERVED;
	if (sp_piece_part(outer->kind) == SP_ACCOUNT_loader_wait || outer->kind == SP_PIECE_CHECKPOINT)
		return;
	outer->h2d_ns += inner->kind == SP_PIECE_H2D ? ns : inner->h2d_ns;
	outer->sync_ns += inner->kind == SP_PIECE_SYNC ? ns : inner->sync_ns;
	outer->grad_sync_ns += inner->kind == SP_PIECE_GRAD_SYNC ? ns : inner->grad_sync_ns;
}

/* What overlaps without lying inside is cut: ranges that two threads make, and damaged traces. */
static void keep_order(const struct sp_piece *pieces, uint32_t first, uint32_t n,
		       struct sp_piece *piece)
{
	if (first > 0 && pieces[first - 1].end_ns > piece->start_ns)
		piece->start_ns = pieces[first - 1].end_ns;
	if (first < n && pieces[n - 1].end_ns > piece->end_ns)
		piece->end_ns = pieces[n - 1].end_ns;
	if (piece->end_ns < piece->start_ns)
		piece->end_ns = piece->start_ns;
}

/*
 * From the last backward inside it on: an optimizer that calls a closure runs forward and backward
 * inside.
 */
static uint32_t skip_closure(const struct sp_piece *pieces, uint32_t first, uint32_t n,
			     struct sp_piece *piece)
{
	for (uint32_t i = n; i > first; i--) {
		if (pieces[i - 1].kind == SP_PIECE_BACKWARD) {
			piece->start_ns = pieces[i - 1].end_ns;
			return i;
		}
	}
	return first;
}

static bool joins_node(const struct sp_piece *last, const struct sp_piece *piece)
{
	return piece->is_node && last->is_node && piece->start_ns >= last->end_ns &&
	       piece->start_ns - last->end_ns <= NODE_GAP_NS;
}

uint32_t sp_piece_put(struct sp_piece *pieces, uint32_t n, struct sp_piece piece)
{
	uint32_t first = n;

	while (first > 0 && pieces[first - 1].start_ns >= piece.start_ns)
		first--;
	if (piece.kind == SP_PIECE_OPTIMIZER)
		first = skip_closure(pieces, first, n, &piece);
	for (uint32_t i = first; i < n; i++)
		contain(&piece, &pieces[i]);
	keep_order(pieces, first, n, &piece);
	if (first > 0 && first == n && joins_node(&pieces[first - 1], &piece)) {
		pieces[first - 1].end_ns = piece.end_ns;
		return first;
	}
	pieces[first] = piece;
	return first + 1;
}
