/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_order.h"

#include "analyzer/steps/process_calls.h"
#include "analyzer/steps/step_machine.h"

/*
 * The batches before the first backward, optimizer or graph: the last of them is the one that is
 * trained on.
 */
struct batches {
	uint32_t first, last,
		previous; /* indices of intervals; previous: the one before the last */
	uint32_t count;
};

static struct batches find_batches(const struct sp_cutter *c)
{
	struct batches b = {0, 0, 0, 0};
	uint32_t n = sp_interval_next(c->intervals, 0, c->count, ENDS), i = 0;

	for (; (i = sp_interval_next(c->intervals, i, n, T(LOADER))) < n; i++) {
		b.first = b.count ? b.first : i;
		b.previous = b.last;
		b.last = i;
		b.count++;
	}
	return b;
}

static bool forks(const struct sp_cutter *c, uint32_t i, uint32_t n)
{
	return sp_interval_next(c->intervals, i, n, T(FORK)) < n;
}

/* A pause from from_ns to to_ns, with batches first to last (indices),
 * and all intervals below n. */
static void make_pause(struct sp_cutter *c, uint32_t first, uint32_t last, uint32_t batches,
		       uint32_t n, int64_t from_ns, int64_t to_ns)
{
	const struct sp_phase_interval *f = &c->intervals[first], *l = &c->intervals[last];
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
	p->forked_before = forks(c, 0, first);
	p->forked_after = forks(c, first, n);
	p->load_ns = sp_cut_loads(c, 0, n);
	sp_cut_charge(c, 0, n, from_ns, to_ns, NULL);
}

/* The intervals end in a graph that was captured before it was launched. */
static bool begins_captured(const struct sp_cutter *c)
{
	const struct sp_phase_interval *last = &c->intervals[c->count - 1];

	return last->kind == SP_INTERVAL_GRAPH && c->captured_ns &&
	       c->captured_ns <= last->start_ns;
}

#define GUARD(name, when)                                                                          \
	static bool guard_##name(const struct sp_cutter *c, const struct sp_phase_interval *p)     \
	{                                                                                          \
		(void)c, (void)p;                                                                  \
		return when;                                                                       \
	}

GUARD(always, true)
GUARD(is_fed, c->steps->feed && p->end_ns > c->steps->feed->list[0].start_ns)
GUARD(follows_capture, begins_captured(c) && p->start_ns >= c->captured_ns)

static const struct {
	uint64_t tokens;
	bool (*guard)(const struct sp_cutter *c, const struct sp_phase_interval *p);
	enum sp_step_rule row;
} begins[] = {
#define SP_STEP_BEGIN(token, guard, why, suite, test) {token, guard_##guard, SP_ROW_begin_##guard},
#include "analyzer/steps/step.def"
};

uint32_t sp_order_first_of_step(const struct sp_cutter *c)
{
	for (uint32_t k = 0; k < sizeof(begins) / sizeof(begins[0]); k++)
		for (uint32_t i = 0; i < c->count; i++)
			if ((begins[k].tokens & sp_interval_tokens(&c->intervals[i])) &&
			    begins[k].guard(c, &c->intervals[i]) &&
			    begins[k].row != sp_step_row_off)
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
				   c->has_from ? from_ns : c->intervals[b.first].start_ns,
				   c->intervals[first].start_ns);
		from_ns = c->intervals[first].start_ns;
	} else if (!c->has_from) {
		first = sp_order_first_of_step(c);
		from_ns = begins_captured(c) ? c->captured_ns : c->intervals[first].start_ns;
		sp_cut_head(c, first, false);
	}
	sp_cut_step(c, first, from_ns);
}

/* A step that was begun does not count. */
void sp_order_cut_rest(struct sp_cutter *c)
{
	struct batches b;
	uint32_t n, known;

	if (!c->has_from)
		return;
	sp_cut_unfinished(c, c->count);
	b = find_batches(c);
	known = sp_cut_end_of_known(c);
	n = b.count && known <= b.last ? b.last + 1 : known;
	if (b.count)
		make_pause(c, b.first, b.last, b.count, n, c->from_ns, c->intervals[n - 1].end_ns);
	else
		sp_cut_known(c);
}
