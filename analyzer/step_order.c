#include "analyzer/step_order.h"

#include "analyzer/step_cut.h"

/*
 * The batches before the first backward, optimizer or graph: the last of them is the one that is trained
 * on.
 */
struct batches {
	uint32_t first, last, previous; /* indices of pieces; previous: the one before the last */
	uint32_t count;
};

static struct batches find_batches(const struct sp_cutter *c)
{
	struct batches b = {0, 0, 0, 0};

	for (uint32_t i = 0; i < c->count; i++) {
		if (c->pieces[i].kind == SP_PIECE_LOADER) {
			b.first = b.count ? b.first : i;
			b.previous = b.last;
			b.last = i;
			b.count++;
		} else if (sp_piece_is_structure(&c->pieces[i])) {
			break;
		}
	}
	return b;
}

static bool has_kind(const struct sp_cutter *c, uint32_t i, uint32_t n, enum sp_piece_kind kind)
{
	for (; i < n; i++)
		if (c->pieces[i].kind == kind)
			return true;
	return false;
}

/* A pause from from_ns to to_ns, with batches first to last (indices), and all pieces below n. */
static void make_pause(struct sp_cutter *c, uint32_t first, uint32_t last, uint32_t batches,
		       uint32_t n,
		       int64_t from_ns, int64_t to_ns)
{
	const struct sp_piece *f = &c->pieces[first], *l = &c->pieces[last];
	struct sp_pause *p = sp_cut_pause(c->steps);

	if (!p)
		return;
	p->batches = batches;
	p->start_ns = from_ns;
	p->end_ns = to_ns;
	p->first_start_ns = f->start_ns;
	p->first_end_ns = f->end_ns;
	p->last_end_ns = l->end_ns;
	p->has_fetch = f->has_fetch;
	p->forked_before = has_kind(c, 0, first, SP_PIECE_FORK);
	p->forked_after = has_kind(c, first, n, SP_PIECE_FORK);
	sp_cut_charge(c, 0, first, from_ns, f->start_ns, &p->lead);
	sp_cut_charge(c, first + 1, last + 1, f->end_ns, l->end_ns, &p->middle);
	sp_cut_charge(c, last + 1, n, l->end_ns, to_ns, &p->rest);
}

/* The pieces end in a graph that was captured before it was launched. */
static bool begins_captured(const struct sp_cutter *c)
{
	const struct sp_piece *last = &c->pieces[c->count - 1];

	return last->kind == SP_PIECE_GRAPH && c->captured_ns && c->captured_ns <= last->start_ns;
}

/*
 * Where the first step begins, if no batch says so: its zero_grad, or else its backward. What came
 * before is as likely the building of the model. That of a graph begins when it has been captured.
 */
static uint32_t first_of_step(const struct sp_cutter *c)
{
	for (uint32_t i = 0; begins_captured(c) && i < c->count; i++)
		if (c->pieces[i].start_ns >= c->captured_ns)
			return i;
	for (uint32_t i = 0; i < c->count; i++)
		if (sp_piece_is_structure(&c->pieces[i]) || c->pieces[i].kind == SP_PIECE_ZERO_GRAD)
			return i;
	return 0;
}

void sp_order_cut(struct sp_cutter *c)
{
	struct batches b = find_batches(c);
	uint32_t first = 0;
	int64_t from_ns = c->from_ns;

	if (b.count > 1 || (b.count == 1 && !c->has_from)) {
		first = b.last;
		if (b.count > 1)
			make_pause(c, b.first, b.previous, b.count - 1, first,
				   c->has_from ? from_ns : c->pieces[b.first].start_ns,
				   c->pieces[first].start_ns);
		from_ns = c->pieces[first].start_ns;
	} else if (!c->has_from) {
		first = first_of_step(c);
		from_ns = begins_captured(c) ? c->captured_ns : c->pieces[first].start_ns;
	}
	sp_cut_step(c, first, from_ns);
}

/* A step that was begun does not count. */
void sp_order_cut_rest(struct sp_cutter *c)
{
	struct batches b = find_batches(c);

	if (b.count && c->has_from && sp_cut_next_structure(c, b.last + 1) == SP_PIECE_NONE)
		make_pause(c, b.first, b.last, b.count, b.last + 1, c->from_ns,
			   c->pieces[b.last].end_ns);
	else if (!b.count)
		sp_cut_checkpoints(c);
}
