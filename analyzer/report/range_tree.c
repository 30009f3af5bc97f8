/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/range_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/intervals.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/gpu/launched.h"
#include "analyzer/training/training.h"

/* A range that has ended, with the ranges inside. */
struct waiting {
	int64_t start_ns;
	uint32_t node;
};

/* One thread at a time; the tree of a thread is merged when the thread ends. */
struct tree_builder {
	struct sp_range_tree *tree;
	struct waiting *waiting;
	uint32_t count, room;
	const struct sp_training *training;
	enum sp_range_choice choice;
	struct sp_launched launched; /* on this thread, for modules */
	uint32_t met[RANGES_SIBLINGS_MAX],
		met_count; /* labels of this thread's outermost modules */
};

static uint32_t node_take(struct sp_range_tree *t)
{
	uint32_t i = t->free;

	if (i) {
		t->free = t->nodes[i].sibling;
		return i;
	}
	return SP_LIST_ADD(t->nodes, t->count, t->room) ? t->count - 1 : 0;
}

static void node_give(struct sp_range_tree *t, uint32_t i)
{
	t->nodes[i].sibling = t->free;
	t->free = i;
}

/* The child with the key of node `like`, or the child for the rest, or 0. */
static uint32_t find_child(const struct sp_range_tree *t, uint32_t parent, uint32_t like)
{
	const struct sp_range_node *key = &t->nodes[like];
	uint32_t siblings = 0, last = 0;

	for (uint32_t i = t->nodes[parent].child; i; i = t->nodes[i].sibling) {
		if (t->nodes[i].label == key->label && t->nodes[i].kind == key->kind)
			return i;
		last = i;
		siblings++;
	}
	return siblings >= RANGES_SIBLINGS_MAX ? last : 0;
}

static void adopt(struct sp_range_tree *t, uint32_t parent, uint32_t i);

/* Adds node i to another node of the same name and frees node i. Recursion: RANGES_DEPTH_MAX. */
static void absorb(struct sp_range_tree *t, uint32_t into, uint32_t i)
{
	struct sp_range_node *a = &t->nodes[into], *b = &t->nodes[i];
	uint32_t next = b->child;

	if (a->label != b->label || a->kind != b->kind)
		a->label = a->kind = 0;
	a->calls += b->calls;
	a->total_ns += b->total_ns;
	a->inside_ns += b->inside_ns;
	a->gpu_ns += b->gpu_ns;
	a->first_calls += b->first_calls;
	a->first_ns += b->first_ns;
	a->max_ns = b->max_ns > a->max_ns ? b->max_ns : a->max_ns;
	a->start_ns = b->start_ns < a->start_ns ? b->start_ns : a->start_ns;
	a->depth = b->depth > a->depth ? b->depth : a->depth;
	while (next) {
		uint32_t child = next;

		next = t->nodes[child].sibling;
		adopt(t, into, child);
	}
	node_give(t, i);
}

/* Makes i, which is in no list, a child. */
static void adopt(struct sp_range_tree *t, uint32_t parent, uint32_t i)
{
	uint32_t same = find_child(t, parent, i), last = t->nodes[parent].child;

	if (same) {
		absorb(t, same, i);
		return;
	}
	t->nodes[i].sibling = 0;
	if (!last) {
		t->nodes[parent].child = i;
		return;
	}
	while (t->nodes[last].sibling)
		last = t->nodes[last].sibling;
	t->nodes[last].sibling = i;
}

/* Frees a node and all nodes below. Recursion: RANGES_DEPTH_MAX. */
static void drop(struct sp_range_tree *t, uint32_t i)
{
	uint32_t next = t->nodes[i].child;

	while (next) {
		uint32_t child = next;

		next = t->nodes[child].sibling;
		drop(t, child);
	}
	node_give(t, i);
}

static void contain(struct sp_range_tree *t, uint32_t outer, uint32_t inner)
{
	uint16_t depth = (uint16_t)(t->nodes[inner].depth + 1);

	t->nodes[outer].inside_ns += t->nodes[inner].total_ns;
	if (depth > RANGES_DEPTH_MAX) {
		t->was_cut = true;
		drop(t, inner);
		return;
	}
	if (depth > t->nodes[outer].depth)
		t->nodes[outer].depth = depth;
	adopt(t, outer, inner);
}

/* True once for each outermost module of a thread. */
static bool is_first(struct tree_builder *b, uint32_t label)
{
	if (b->choice != SP_RANGES_MODULES || b->met_count == RANGES_SIBLINGS_MAX)
		return false;
	for (uint32_t i = 0; i < b->met_count; i++)
		if (b->met[i] == label)
			return false;
	b->met[b->met_count++] = label;
	return true;
}

/* Recursion: RANGES_DEPTH_MAX. */
static void mark_first(struct sp_range_tree *t, uint32_t node)
{
	t->nodes[node].first_calls = t->nodes[node].calls;
	t->nodes[node].first_ns = t->nodes[node].total_ns;
	for (uint32_t i = t->nodes[node].child; i; i = t->nodes[i].sibling)
		mark_first(t, i);
}

/* The first n waiting ranges are in no other range. */
static void move_to_root(struct tree_builder *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (is_first(b, b->tree->nodes[b->waiting[i].node].label))
			mark_first(b->tree, b->waiting[i].node);
		b->tree->nodes[0].inside_ns += b->tree->nodes[b->waiting[i].node].total_ns;
		adopt(b->tree, 0, b->waiting[i].node);
	}
	for (uint32_t i = n; i < b->count; i++)
		b->waiting[i - n] = b->waiting[i];
	b->count -= n;
}

static int put(struct tree_builder *b, int64_t start_ns, uint32_t node)
{
	struct waiting *added = SP_LIST_ADD(b->waiting, b->count, b->room);

	if (!added)
		return -ENOMEM;
	*added = (struct waiting){start_ns, node};
	return 0;
}

static int take(struct tree_builder *b, struct sp_range_node range, int64_t start_ns)
{
	struct sp_range_tree *t = b->tree;
	uint32_t i = node_take(t), first = SP_NEST_FIRST(b->waiting, b->count, start_ns, start_ns);

	if (!i)
		return -ENOMEM;
	t->nodes[i] = range;
	t->nodes[i].start_ns = start_ns;
	while (b->count > first)
		contain(t, i, b->waiting[--b->count].node);
	if (b->count == RANGES_WAITING_MAX || t->count > 2 * RANGES_WAITING_MAX) {
		t->was_cut = true;
		move_to_root(b, b->count - b->count / 2);
	}
	return put(b, start_ns, i);
}

/* The call with the longest time of all calls that run the graph backwards; 0: none. */
static uint32_t find_backward(const struct sp_range_tree *t, uint32_t parent)
{
	uint32_t best = 0;

	for (uint32_t i = t->nodes[parent].child; i; i = t->nodes[i].sibling) {
		uint32_t found = t->nodes[i].is_backward ? i : find_backward(t, i);

		if (found && (!best || t->nodes[found].total_ns > t->nodes[best].total_ns))
			best = found;
	}
	return best;
}

/*
 * PyTorch runs the nodes of a device's graph on threads of its own while the thread that called
 * backward waits: nodes that lie in no other range belong to that call.
 */
static void join_backward(struct sp_range_tree *t)
{
	uint32_t backward = find_backward(t, 0), next = t->nodes[0].child, kept = 0;

	if (!backward)
		return;
	t->nodes[0].child = 0;
	for (uint32_t i = next; i; i = next) {
		next = t->nodes[i].sibling;
		t->nodes[i].sibling = 0;
		if (t->nodes[i].kind == SP_EV_torch_backward && i != backward) {
			t->nodes[0].inside_ns -= t->nodes[i].total_ns;
			contain(t, backward, i);
			continue;
		}
		if (kept)
			t->nodes[kept].sibling = i;
		else
			t->nodes[0].child = i;
		kept = i;
	}
}

/* Page faults and time without a core are no calls: they come at the end of a fetch, after calls
 * that began later, and the tree is made in the order of ends. */
static bool is_chosen(const struct tree_builder *b, uint32_t kind)
{
	const struct sp_event_info *info = kind < SP_EVENT_KINDS ? sp_event_info(kind) : NULL;

	if (b->choice == SP_RANGES_AND_CALLS)
		return kind != SP_KIND_HOLE && kind < SP_KIND_DEFINE &&
		       !(info &&
			 (info->class == SP_CLASS_PAGE || info->class == SP_CLASS_OFF_CORE));
	if (!info || !info->name || info->class != SP_CLASS_RANGE)
		return false;
	if (b->choice == SP_RANGES_MODULES)
		return kind == SP_EV_module_forward;
	return b->choice != SP_RANGES_OPS || kind == SP_EV_torch_op;
}

static uint32_t label_of(const struct sp_process_metadata *metadata, const struct sp_slot *slot)
{
	const struct sp_event_info *info = sp_event_info(sp_commit_kind(slot->commit));

	return info->arg == SP_ARG_NAME ? sp_process_label(metadata, sp_commit_arg(slot->commit))
					: SP_STRINGS_REST;
}

static uint64_t gpu_ns(const struct tree_builder *b, const struct sp_clock *clock,
		       const struct sp_slot *slot)
{
	return sp_launched_between(&b->launched, sp_clock_realtime_ns(clock, slot->start),
				   sp_clock_realtime_ns(clock, slot->start + slot->ticks));
}

static int take_batch(struct tree_builder *b, const struct sp_stream *stream,
		      const struct sp_batch *batch)
{
	const struct sp_process_image *image = &b->training->run->index.images[stream->image];
	const struct sp_process_metadata *metadata =
		&b->training->run->metadata.images[stream->image];
	const struct sp_clock *clock = &b->training->run->index.hosts[image->host].clock;
	struct sp_tick_range span = sp_run_span(b->training->run, stream->image);
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < batch->n; i++) {
		const struct sp_slot *slot = &batch->slots[i];
		uint32_t kind = sp_commit_kind(slot->commit);
		uint64_t ns;

		if (!is_chosen(b, kind) || slot->start < span.from_ticks ||
		    slot->start >= span.to_ticks)
			continue;
		ns = sp_clock_span_ns(clock->ns_per_tick, slot->ticks);
		r = take(b,
			 (struct sp_range_node){
				 .label = label_of(metadata, slot),
				 .kind = (uint16_t)kind,
				 .is_backward = kind == SP_EV_python_call &&
						slot->value == SP_PHASE_backward,
				 .calls = 1,
				 .total_ns = ns,
				 .max_ns = ns,
				 .gpu_ns = gpu_ns(b, clock, slot),
			 },
			 sp_clock_realtime_ns(clock, slot->start));
	}
	return r;
}

/* The trees that one pass makes. */
struct range_pass {
	struct sp_reader reader;
	struct tree_builder builders[SP_RANGE_REQUESTS_MAX];
	unsigned count;
};

static int stream_begin(struct tree_builder *b, uint32_t i)
{
	int r = 0;

	b->met_count = 0;
	if (b->choice == SP_RANGES_MODULES)
		r = sp_launched_read(&b->launched, b->training, i);
	b->tree->has_gpu |= b->launched.count > 0;
	return r;
}

static void stream_end(struct tree_builder *b)
{
	move_to_root(b, b->count);
	sp_launched_finish(&b->launched);
}

static int read_stream(struct range_pass *pass, const struct sp_run *run, uint32_t i)
{
	struct sp_stream *stream = run->index.streams[i];
	struct sp_batch batch;
	int r = 0;

	for (unsigned k = 0; r == 0 && k < pass->count; k++)
		r = stream_begin(&pass->builders[k], i);
	sp_reader_open(&pass->reader, &run->index, stream);
	while (r == 0 && sp_reader_next(&pass->reader, &batch))
		for (unsigned k = 0; r == 0 && k < pass->count; k++)
			r = take_batch(&pass->builders[k], stream, &batch);
	for (unsigned k = 0; k < pass->count; k++)
		stream_end(&pass->builders[k]);
	return r;
}

static int builder_begin(struct tree_builder *b, const struct sp_range_request *request,
			 const struct sp_training *training)
{
	struct sp_range_tree *tree = request->tree;

	*b = (struct tree_builder){.tree = tree, .training = training, .choice = request->choice};
	node_take(tree);
	if (!tree->nodes)
		return -ENOMEM;
	tree->nodes[0] = (struct sp_range_node){.kind = 0};
	return 0;
}

static int begin(struct range_pass *pass, const struct sp_range_request *requests, unsigned count,
		 const struct sp_training *training)
{
	int r = sp_reader_init(&pass->reader);

	pass->count = 0;
	for (unsigned k = 0; k < count; k++)
		*requests[k].tree = (struct sp_range_tree){.nodes = NULL};
	for (; r == 0 && pass->count < count; pass->count++)
		r = builder_begin(&pass->builders[pass->count], &requests[pass->count], training);
	return r;
}

static void end(struct range_pass *pass)
{
	sp_reader_finish(&pass->reader);
	for (unsigned k = 0; k < pass->count; k++)
		free(pass->builders[k].waiting);
}

static bool has_labels(const struct sp_run *run, uint32_t stream)
{
	return sp_run_process(run, stream)->labels;
}

int sp_ranges_read(const struct sp_range_request *requests, unsigned count,
		   const struct sp_training *training)
{
	const struct sp_run *run = training->run;
	struct range_pass pass;
	int r = begin(&pass, requests, count, training);

	for (uint32_t i = 0; r == 0 && i < run->index.stream_count; i++)
		if (has_labels(run, i) && sp_run_selects(run, i))
			r = read_stream(&pass, run, i);
	for (unsigned k = 0; r == 0 && k < count; k++)
		join_backward(requests[k].tree);
	end(&pass);
	return r;
}

int sp_ranges_read_stream(const struct sp_range_request *request,
			  const struct sp_training *training, uint32_t stream)
{
	struct range_pass pass;
	int r = begin(&pass, request, 1, training);

	if (r == 0)
		r = read_stream(&pass, training->run, stream);
	end(&pass);
	return r;
}

void sp_ranges_finish(struct sp_range_tree *tree)
{
	free(tree->nodes);
	*tree = (struct sp_range_tree){.nodes = NULL};
}
