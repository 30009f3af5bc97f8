/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/backward_matching.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/order.h"
#include "analyzer/training/training.h"

#define SUFFIX "Backward"
#define SUFFIX_BYTES 8u
#define NAME_BYTES 128u /* longer names have no match */
#define MAKERS_MAX 4096u
#define MAKER_UNKNOWN UINT32_MAX
#define NONE UINT32_MAX

struct backward_call {
	int64_t start_ns, end_ns;
	uint32_t stream, maker, number; /* number: in the order of ends */
	bool is_node;
	uint32_t match; /* of a node: its operator's call; of an operator: the call below on the
			   stack */
};

struct sp_backward_step {
	uint32_t step; /* that is being read */
	uint32_t count, room;
	bool has_node, is_off;
	struct backward_call *calls;
};

struct sp_backward_maker {
	uint32_t top; /* its last call that has no node yet */
	bool has_node, is_off;
};

static bool is_whole(const struct sp_report *report)
{
	return report->totals.lost == 0 && report->totals.missing == 0;
}

static uint32_t *unknown_makers(uint32_t count)
{
	uint32_t *makers = malloc((count + 1u) * sizeof(*makers));

	for (uint32_t i = 0; makers && i <= count; i++)
		makers[i] = MAKER_UNKNOWN;
	return makers;
}

int sp_backwards_init(struct sp_backwards *b, const struct sp_report *report)
{
	uint32_t labels = report->run.metadata.labels.count;

	b->report = report;
	if (!is_whole(report) || !report->training.count)
		return 0;
	b->of_operator = unknown_makers(labels);
	b->of_node = unknown_makers(labels);
	b->maker_room = calloc(MAKERS_MAX + 1u, sizeof(*b->maker_room));
	b->steps = calloc(report->training.count, sizeof(*b->steps));
	if (!b->of_operator || !b->of_node || !b->maker_room || !b->steps)
		return -ENOMEM;
	return sp_string_table_init(&b->makers, MAKERS_MAX);
}

void sp_backwards_finish(struct sp_backwards *b)
{
	for (uint32_t i = 0; b->steps && i < b->report->training.count; i++)
		free(b->steps[i].calls);
	free(b->steps);
	free(b->maker_room);
	free(b->of_operator);
	free(b->of_node);
	sp_string_table_finish(&b->makers);
	b->steps = NULL;
}

/* AddmmBackward0 and AddmmBackward1 are of overloads of one operator. */
static uint32_t maker_of_node(struct sp_backwards *b, const char *text, size_t bytes)
{
	while (bytes && isdigit((unsigned char)text[bytes - 1]))
		bytes--;
	if (bytes <= SUFFIX_BYTES || bytes - SUFFIX_BYTES > NAME_BYTES ||
	    memcmp(text + bytes - SUFFIX_BYTES, SUFFIX, SUFFIX_BYTES) != 0)
		return SP_STRINGS_REST;
	return sp_string_table_add(&b->makers, text, bytes - SUFFIX_BYTES);
}

/*
 * PyTorch's rule (tools/autograd/load_derivatives.py): each word of max_pool2d_with_indices with
 * capitals where letters begin, MaxPool2DWithIndices; nll_loss_forward gives NllLoss. A function in
 * Python has its own name.
 */
static uint32_t maker_of_operator(struct sp_backwards *b, const char *text, size_t bytes)
{
	static const char forward[] = "Forward";
	char name[NAME_BYTES];
	size_t n = 0;
	bool is_inside = false;

	if (bytes > NAME_BYTES)
		return SP_STRINGS_REST;
	if (bytes <= 6 || memcmp(text, "aten::", 6) != 0)
		return sp_string_table_add(&b->makers, text, bytes);
	for (size_t i = 6; i < bytes; i++) {
		int c = (unsigned char)text[i];

		if (c != '_')
			name[n++] = (char)(is_inside ? tolower(c) : toupper(c));
		is_inside = isalpha(c);
	}
	if (n > sizeof(forward) - 1 &&
	    memcmp(name + n - (sizeof(forward) - 1), forward, sizeof(forward) - 1) == 0)
		n -= sizeof(forward) - 1;
	return n ? sp_string_table_add(&b->makers, name, n) : SP_STRINGS_REST;
}

static uint32_t maker_of(struct sp_backwards *b, const struct sp_record *record)
{
	bool is_node = record->kind == SP_EV_torch_backward;
	uint32_t *maker = &(is_node ? b->of_node : b->of_operator)[record->label];
	size_t bytes;
	const char *text;

	if (*maker != MAKER_UNKNOWN)
		return *maker;
	text = sp_string_table_text(&b->report->run.metadata.labels, record->label, &bytes);
	*maker = is_node ? maker_of_node(b, text, bytes) : maker_of_operator(b, text, bytes);
	return *maker;
}

/* In the order of time, a call before those inside of it. */
SP_ORDER(compare_calls, struct backward_call, SP_UP(start_ns) ?: SP_DOWN(number))

/* Returns the start of the last node; *ret_one: all run on one thread. */
static int64_t look_at_nodes(struct sp_backwards *b, const struct sp_backward_step *s,
			     bool *ret_one)
{
	int64_t last_ns = INT64_MIN;
	uint32_t stream = NONE;

	memset(b->maker_room, 0, (MAKERS_MAX + 1u) * sizeof(*b->maker_room));
	for (uint32_t i = 0; i <= MAKERS_MAX; i++)
		b->maker_room[i].top = NONE;
	*ret_one = true;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct backward_call *call = &s->calls[i];

		if (!call->is_node)
			continue;
		b->maker_room[call->maker].has_node = true;
		*ret_one = *ret_one && (stream == NONE || stream == call->stream);
		stream = call->stream;
		last_ns = call->start_ns;
	}
	return last_ns;
}

/* Where nodes lie in each other, what the inner ones belong to
 * was called inside of the outer one. */
static void match_calls(struct sp_backwards *b, struct sp_backward_step *s, int64_t last_ns)
{
	int64_t node_end_ns = INT64_MIN, operator_end_ns = INT64_MIN;

	for (uint32_t i = 0; i < s->count && s->calls[i].start_ns <= last_ns; i++) {
		struct backward_call *call = &s->calls[i];
		struct sp_backward_maker *maker = &b->maker_room[call->maker];
		uint32_t below = maker->top;
		bool is_inside = call->start_ns < node_end_ns;

		call->match = NONE;
		if (call->is_node) {
			maker->is_off = maker->is_off || is_inside || below == NONE;
			if (below != NONE)
				maker->top = s->calls[below].match;
			call->match = below;
			node_end_ns = call->end_ns > node_end_ns ? call->end_ns : node_end_ns;
		} else if (maker->has_node && !is_inside && call->start_ns >= operator_end_ns) {
			call->match = below;
			maker->top = i;
			operator_end_ns = call->end_ns;
		}
	}
}

/* False where calls are left without a node, too. */
static bool is_known(const struct sp_backwards *b, const struct backward_call *node)
{
	const struct sp_backward_maker *maker = &b->maker_room[node->maker];

	return node->match != NONE && !maker->is_off && maker->top == NONE;
}

/* The calls of the nodes of one backward lie in the reverse order of time. */
static void check_order(struct sp_backwards *b, const struct sp_backward_step *s, int64_t last_ns)
{
	const struct backward_call *later = NULL, *last_node = NULL;

	for (uint32_t i = 0; i < s->count && s->calls[i].start_ns <= last_ns; i++) {
		const struct backward_call *call = &s->calls[i], *made;

		if (!call->is_node) {
			/* An operator outside of nodes: what follows is another backward. */
			if (last_node && call->start_ns >= last_node->end_ns &&
			    b->maker_room[call->maker].has_node)
				later = NULL;
			continue;
		}
		last_node = call;
		if (!is_known(b, call))
			continue;
		made = &s->calls[call->match];
		if (later && made->start_ns >= later->start_ns) {
			b->maker_room[made->maker].is_off = true;
			b->maker_room[later->maker].is_off = true;
		}
		later = made;
	}
}

static int give_matches(struct sp_backwards *b, const struct sp_backward_step *s, int64_t last_ns)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->count && s->calls[i].start_ns <= last_ns; i++) {
		const struct backward_call *node = &s->calls[i], *call;

		if (!node->is_node || !is_known(b, node))
			continue;
		call = &s->calls[node->match];
		r = b->matched(b->context,
			       &(struct sp_backward_match){call->stream, node->stream,
							   call->start_ns, node->start_ns});
	}
	return r;
}

static int finish_step(struct sp_backwards *b, struct sp_backward_step *s)
{
	bool is_one = false;
	int64_t last_ns;
	int r = 0;

	if (s->has_node && !s->is_off) {
		qsort(s->calls, s->count, sizeof(*s->calls), compare_calls);
		last_ns = look_at_nodes(b, s, &is_one);
		if (is_one) {
			match_calls(b, s, last_ns);
			check_order(b, s, last_ns);
			r = give_matches(b, s, last_ns);
		}
	}
	s->count = 0;
	s->has_node = s->is_off = false;
	return r;
}

static int keep(struct sp_backward_step *s, const struct sp_record *record, uint32_t maker)
{
	struct backward_call *call;

	if (s->count == BACKWARD_CALLS_MAX)
		s->is_off = true;
	if (s->is_off)
		return 0;
	call = SP_LIST_ADD(s->calls, s->count, s->room);
	if (!call)
		return -ENOMEM;
	*call = (struct backward_call){
		.start_ns = record->start_ns,
		.end_ns = sp_record_end_ns(record),
		.stream = record->stream,
		.maker = maker,
		.number = s->count - 1,
		.is_node = record->kind == SP_EV_torch_backward,
	};
	s->has_node = s->has_node || call->is_node;
	return 0;
}

/* Ends the steps that ended before this time. */
static int advance(struct sp_backwards *b, const struct sp_trainer *trainer,
		   struct sp_backward_step *s, int64_t ns)
{
	const struct sp_steps *steps = &trainer->steps;
	int r = 0;

	while (r == 0 && s->step < steps->count && steps->steps[s->step].end_ns < ns) {
		r = finish_step(b, s);
		s->step++;
	}
	return r;
}

int sp_backwards_take(struct sp_backwards *b, const struct sp_record *record)
{
	bool is_node = record->kind == SP_EV_torch_backward;
	const struct sp_trainer *trainer;
	const struct sp_index *index;
	struct sp_backward_step *s;
	uint32_t maker;
	int r;

	if (!b->steps || (!is_node && record->kind != SP_EV_torch_op) ||
	    record->label == SP_STRINGS_REST)
		return 0;
	index = &b->report->run.index;
	trainer = sp_training_of(&b->report->training, index->streams[record->stream]->image);
	if (!trainer || (!is_node && index->streams[record->stream]->tid !=
					     index->streams[trainer->stream]->tid))
		return 0;
	s = &b->steps[trainer - b->report->training.trainers];
	r = advance(b, trainer, s, sp_record_end_ns(record));
	maker = maker_of(b, record);
	if (r != 0 || maker == SP_STRINGS_REST || s->step >= trainer->steps.count ||
	    record->start_ns < trainer->steps.steps[s->step].start_ns)
		return r;
	return keep(s, record, maker);
}

int sp_backwards_flush(struct sp_backwards *b)
{
	int r = 0;

	for (uint32_t i = 0; b->steps && r == 0 && i < b->report->training.count; i++)
		r = finish_step(b, &b->steps[i]);
	return r;
}
