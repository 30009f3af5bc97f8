#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/saving.h"
#include "analyzer/step_cut.h"
#include "analyzer/step_order.h"
#include "analyzer/step_pass.h"
#include "trace/events.h"

#define OWN_WAIT_LEAST_NS 100000 /* of intervals that are kept: shorter ones may be many */
#define PIECES_MAX (1u << 20) /* between two steps; beyond, the older half counts as other work */

void *sp_cut_room(void *list, uint32_t count, uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : 64;

	if (count < *room)
		return list;
	if (more < *room)
		return NULL;
	list = realloc(list, (size_t)more * size);
	if (list)
		*room = more;
	return list;
}

static struct sp_step *add_step(struct sp_steps *s)
{
	struct sp_step *list = sp_cut_room(s->steps, s->count, &s->room, sizeof(*list));

	s->is_out_of_memory |= !list;
	if (!list)
		return NULL;
	s->steps = list;
	list[s->count] = (struct sp_step){.epoch = 0};
	return &list[s->count++];
}

struct sp_pause *sp_cut_pause(struct sp_steps *s)
{
	struct sp_pause *list = sp_cut_room(s->pauses, s->pause_count, &s->pause_room,
					     sizeof(*list));

	s->is_out_of_memory |= !list;
	if (!list)
		return NULL;
	s->pauses = list;
	list[s->pause_count] = (struct sp_pause){.step = s->count};
	return &list[s->pause_count++];
}

static void add_wait(struct sp_steps *s, const struct sp_piece *p)
{
	struct sp_interval *list = sp_cut_room(s->waits, s->wait_count, &s->wait_room,
						sizeof(*list));

	s->is_out_of_memory |= !list;
	if (!list)
		return;
	s->waits = list;
	list[s->wait_count++] = (struct sp_interval){p->start_ns, p->end_ns, 0};
}

static void add_backward(struct sp_steps *s, const struct sp_piece *p)
{
	struct sp_backward *list = sp_cut_room(s->backwards, s->backward_count, &s->backward_room, sizeof(*list));

	s->is_out_of_memory |= !list;
	if (!list)
		return;
	s->backwards = list;
	list[s->backward_count++] = (struct sp_backward){p->start_ns};
}

enum sp_piece_kind sp_cut_next_structure(const struct sp_cutter *c, uint32_t i)
{
	while (i < c->count && !sp_piece_is_structure(&c->pieces[i]))
		i++;
	return i < c->count ? c->pieces[i].kind : SP_PIECE_NONE;
}

static enum sp_account_part part_towards(enum sp_piece_kind next)
{
	return next == SP_PIECE_BACKWARD ? SP_ACCOUNT_forward : SP_ACCOUNT_other;
}

void sp_cut_charge(const struct sp_cutter *c, uint32_t i, uint32_t n, int64_t from_ns, int64_t to_ns,
		   struct sp_account *account)
{
	enum sp_account_part part = part_towards(sp_cut_next_structure(c, i));

	for (; i < n; i++) {
		const struct sp_piece *p = &c->pieces[i];

		account->ns[part] += (uint64_t)(p->start_ns - from_ns);
		sp_piece_charge(p, part, account);
		from_ns = p->end_ns;
		if (sp_piece_is_structure(p))
			part = part_towards(sp_cut_next_structure(c, i + 1));
	}
	account->ns[part] += (uint64_t)(to_ns - from_ns);
}

static void note_sources(struct sp_steps *s, const struct sp_piece *p)
{
	enum sp_account_part part = p->is_own ? SP_ACCOUNT_loader_wait : sp_piece_part(p->kind);
	uint8_t *source = &s->sources[part];

	if (part != SP_ACCOUNT_other && p->source > *source)
		*source = p->source;
	s->sources[SP_ACCOUNT_h2d_copy] |= p->h2d_ns ? SP_FROM_OBSERVED : 0;
	s->sources[SP_ACCOUNT_sync_wait] |= p->sync_ns ? SP_FROM_OBSERVED : 0;
	s->sources[SP_ACCOUNT_grad_sync] |= p->grad_sync_ns ? SP_FROM_OBSERVED : 0;
}

static bool has_loader(const struct sp_cutter *c, uint32_t i)
{
	for (; i < c->count; i++)
		if (sp_piece_part(c->pieces[i].kind) == SP_ACCOUNT_loader_wait)
			return true;
	return false;
}

/*
 * Once a loader has fed a step, what else is read or waited for is no batch. Nor is what comes behind a step's last
 * backward: a server of parameters, gradients that others hand over.
 */
static void note_own_input(struct sp_cutter *c, uint32_t first)
{
	bool is_ahead = !c->steps->has_backward;

	c->steps->is_fed |= has_loader(c, first);
	for (uint32_t i = c->count; i > first; i--) {
		struct sp_piece *p = &c->pieces[i - 1];

		is_ahead |= p->kind == SP_PIECE_BACKWARD;
		p->is_own = !c->steps->is_fed && is_ahead && sp_piece_is_input(p);
	}
}

static void add_own_input(struct sp_steps *s, struct sp_step *step, const struct sp_piece *p)
{
	uint64_t ns = (uint64_t)(p->end_ns - p->start_ns);

	*(p->kind == SP_PIECE_AWAIT ? &step->awaited_ns : &step->own_input_ns) += ns;
	if (ns >= OWN_WAIT_LEAST_NS)
		add_wait(s, p);
}

struct sp_step *sp_cut_step(struct sp_cutter *c, uint32_t first, int64_t from_ns)
{
	int64_t to_ns = c->pieces[c->count - 1].end_ns;
	struct sp_step *step = add_step(c->steps);

	if (!step)
		return NULL;
	step->start_ns = from_ns;
	step->end_ns = to_ns;
	step->optimizer = c->steps->optimizer_count++;
	step->unrecorded = c->steps->unrecorded;
	note_own_input(c, first);
	sp_cut_charge(c, first, c->count, from_ns, to_ns, &step->account);
	for (uint32_t i = first; i < c->count; i++) {
		const struct sp_piece *p = &c->pieces[i];

		step->has_loader |= p->kind == SP_PIECE_LOADER || p->kind == SP_PIECE_LOADER_END;
		step->has_backward |= p->kind == SP_PIECE_BACKWARD;
		if (p->kind == SP_PIECE_BACKWARD)
			add_backward(c->steps, p);
		step->has_fetch |= p->kind == SP_PIECE_LOADER && p->has_fetch;
		if (p->kind == SP_PIECE_LOADER)
			add_wait(c->steps, p);
		if (p->is_own)
			add_own_input(c->steps, step, p);
		note_sources(c->steps, p);
	}
	return step;
}

uint32_t sp_cut_end_of_batches(const struct sp_cutter *c)
{
	uint32_t i = 0;

	while (i < c->count && c->pieces[i].kind != SP_PIECE_BACKWARD &&
	       c->pieces[i].kind != SP_PIECE_OPTIMIZER && c->pieces[i].kind != SP_PIECE_GRAPH)
		i++;
	return i;
}

/* The pieces at hand end in what ends a step. */
static void cut(struct sp_cutter *c)
{
	if (c->steps->pass_count)
		sp_pass_cut(c);
	else
		sp_order_cut(c);
	c->from_ns = c->pieces[c->count - 1].end_ns;
	c->has_from = true;
	c->count = 0;
}

void sp_cutter_init(struct sp_cutter *c, struct sp_steps *steps, const struct sp_image_facts *image)
{
	*c = (struct sp_cutter){.steps = steps, .image = image};
}

/* A million pieces and no step: the older half becomes one piece of no kind. */
static void shrink(struct sp_cutter *c)
{
	uint32_t half = c->count / 2;

	c->pieces[0] = (struct sp_piece){
		.start_ns = c->pieces[0].start_ns,
		.end_ns = c->pieces[half - 1].end_ns,
	};
	memmove(&c->pieces[1], &c->pieces[half], (c->count - half) * sizeof(*c->pieces));
	c->count = c->count - half + 1;
}

static bool ends_in_step(const struct sp_cutter *c)
{
	enum sp_piece_kind last = c->count ? c->pieces[c->count - 1].kind : SP_PIECE_NONE;

	if (last == SP_PIECE_GRAPH || last == SP_PIECE_OPTIMIZER)
		return c->steps->end != SP_STEP_BY_BACKWARD;
	return last == SP_PIECE_BACKWARD && c->steps->end == SP_STEP_BY_BACKWARD;
}

/* What tells whether steps are graphs: those launched behind what is no graph. Returns false where there is no more to do. */
static bool note_graphs(struct sp_cutter *c, uint32_t event, enum sp_piece_kind kind, int64_t end_ns)
{
	struct sp_steps *s = c->steps;

	if (event == SP_EV_cudaStreamBeginCapture || event == SP_EV_cuStreamBeginCapture)
		c->is_capturing = true;
	if (event == SP_EV_cudaStreamEndCapture || event == SP_EV_cuStreamEndCapture) {
		c->is_capturing = false;
		c->captured_ns = end_ns;
	}
	if (kind == SP_PIECE_BACKWARD || kind == SP_PIECE_OPTIMIZER) {
		s->has_captured |= c->is_capturing;
		s->graphs = 0;
	}
	if (kind != SP_PIECE_GRAPH)
		return kind != SP_PIECE_NONE;
	s->graphs++;
	return s->end == SP_STEP_BY_GRAPH;
}

/* Steps of which nothing is known; where the first of them ended recording began again, the next begins. */
static void skip_unrecorded(struct sp_cutter *c, int64_t value, int64_t end_ns)
{
	if (ends_in_step(c))
		cut(c);
	c->count = 0;
	c->has_from = value & 1;
	c->from_ns = end_ns;
	if (value > 1)
		c->steps->unrecorded += (uint32_t)(value >> 1 < UINT32_MAX ? value >> 1 : UINT32_MAX);
}

/*
 * A loop gives the last batch back when it has taken the next: of batches in shared memory that is a
 * call of munmap or some, and no part of the forward that follows.
 */
static bool is_giving_back(const struct sp_cutter *c)
{
	enum sp_piece_kind last = c->count ? c->pieces[c->count - 1].kind : SP_PIECE_NONE;

	return last == SP_PIECE_LOADER || last == SP_PIECE_UNMAP;
}

static bool is_left_out(const struct sp_cutter *c, const struct sp_piece *piece)
{
	if (piece->kind == SP_PIECE_UNMAP)
		return !is_giving_back(c);
	return c->steps->is_fed && sp_piece_is_input(piece);
}

/* What is waited for is a checkpoint that another thread saves. */
static void note_saving(const struct sp_cutter *c, struct sp_piece *piece)
{
	if (piece->kind != SP_PIECE_AWAIT || !c->savings ||
	    !sp_savings_held(c->savings, piece->start_ns, piece->end_ns))
		return;
	piece->kind = SP_PIECE_CHECKPOINT;
	piece->source = SP_FROM_WRAPPED;
}

void sp_cutter_take(struct sp_cutter *c, const struct sp_slot *slot, int64_t start_ns,
		    int64_t end_ns)
{
	struct sp_piece piece = sp_piece_of(c->image, slot, start_ns, end_ns), *list;

	note_saving(c, &piece);
	if (!note_graphs(c, sp_commit_kind(slot->commit), piece.kind, end_ns) || is_left_out(c, &piece))
		return;
	if (piece.kind == SP_PIECE_OFF) {
		skip_unrecorded(c, slot->value, end_ns);
		return;
	}
	/*
	 * A wrapper around the optimizer's own marker may still come, so a step is cut by what
	 * follows it.
	 */
	if (ends_in_step(c) && piece.start_ns >= c->pieces[c->count - 1].end_ns &&
	    !(piece.is_node && c->pieces[c->count - 1].is_node))
		cut(c);
	if (c->has_from && piece.start_ns < c->from_ns)
		piece.start_ns = c->from_ns;
	if (piece.end_ns < piece.start_ns)
		return;
	c->steps->has_backward |= piece.kind == SP_PIECE_BACKWARD;
	if (c->count == PIECES_MAX)
		shrink(c);
	list = sp_cut_room(c->pieces, c->count, &c->room, sizeof(*list));
	c->steps->is_out_of_memory |= !list;
	if (!list)
		return;
	c->pieces = list;
	c->count = sp_piece_put(c->pieces, c->count, piece);
	if (piece.iterator)
		sp_pass_note(c->steps, &c->pieces[c->count - 1]);
}

uint32_t sp_cut_end_of_checkpoints(const struct sp_cutter *c)
{
	uint32_t n = c->count;

	while (n > 0 && c->pieces[n - 1].kind != SP_PIECE_CHECKPOINT)
		n--;
	return n;
}

void sp_cut_checkpoints(struct sp_cutter *c)
{
	uint32_t n = sp_cut_end_of_checkpoints(c);
	struct sp_pause *p = n && c->has_from ? sp_cut_pause(c->steps) : NULL;

	if (!p)
		return;
	p->has_passes = true;
	p->start_ns = c->from_ns;
	p->end_ns = c->pieces[n - 1].end_ns;
	sp_cut_charge(c, 0, n, p->start_ns, p->end_ns, &p->lead);
}

void sp_cutter_finish(struct sp_cutter *c)
{
	if (ends_in_step(c))
		cut(c);
	if (c->steps->pass_count)
		sp_pass_cut_rest(c);
	else
		sp_order_cut_rest(c);
	free(c->pieces);
	c->pieces = NULL;
}
