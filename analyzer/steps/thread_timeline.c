/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/thread_timeline.h"

#include "analyzer/base/grow.h"
#include "analyzer/base/intervals.h"
#include "analyzer/base/spill.h"

static bool is_alike(const struct sp_phase_segment *a, const struct sp_phase_segment *b)
{
	return a->pass == b->pass && a->file == b->file && a->phase == b->phase &&
	       a->within == b->within && a->cause == b->cause && a->source == b->source;
}

static void push(struct sp_thread_timeline *t, struct sp_phase_segment segment)
{
	struct sp_phase_segment *added = SP_LIST_ADD(t->list, t->count, t->room);

	t->is_out_of_memory |= !added;
	if (added)
		*added = segment;
}

void sp_thread_timeline_add(struct sp_thread_timeline *t, struct sp_phase_segment segment,
			    int64_t end_ns)
{
	struct sp_phase_segment *end = t->count ? &t->list[t->count - 1] : NULL;

	if (end && segment.start_ns < end->start_ns)
		segment.start_ns = end->start_ns;
	if (end_ns <= segment.start_ns)
		return;
	if (end && end->start_ns == segment.start_ns)
		t->count--;
	if (!end || end->start_ns != segment.start_ns || t->is_cut || !t->count ||
	    !is_alike(end - 1, &segment))
		push(t, segment);
	t->is_cut = false;
	push(t, (struct sp_phase_segment){.start_ns = end_ns, .phase = SP_NO_PHASE});
}

/* The index of the first segment that begins later than an instant. */
static uint32_t after(const struct sp_thread_timeline *t, int64_t at_ns)
{
	return SP_UPPER_BOUND(t->list, t->count, start_ns, at_ns);
}

void sp_thread_timeline_relabel(struct sp_thread_timeline *t, int64_t from_ns, int64_t to_ns,
				uint32_t phases, uint8_t phase)
{
	for (uint32_t i = from_ns == INT64_MIN ? 0 : after(t, from_ns - 1);
	     i < t->count && t->list[i].start_ns < to_ns; i++) {
		struct sp_phase_segment *s = &t->list[i];

		if (s->phase == SP_NO_PHASE || !(phases & 1u << s->phase))
			continue;
		s->within = s->within == s->phase || phase == SP_NO_PHASE ? phase : s->within;
		s->phase = phase;
	}
}

const struct sp_phase_segment *sp_thread_timeline_at(const struct sp_thread_timeline *t,
						     int64_t at_ns)
{
	uint32_t i = after(t, at_ns);

	return i && t->list[i - 1].phase != SP_NO_PHASE ? &t->list[i - 1] : NULL;
}

struct sp_account sp_thread_timeline_account(const struct sp_thread_timeline *t, int64_t from_ns,
					     int64_t to_ns)
{
	struct sp_account account = {.ns = {0}};
	uint32_t i = after(t, from_ns);

	for (i = i ? i - 1 : 0; i + 1 < t->count && t->list[i].start_ns < to_ns; i++) {
		int64_t begin_ns = t->list[i].start_ns, end_ns = t->list[i + 1].start_ns;

		begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (t->list[i].phase != SP_NO_PHASE && end_ns > begin_ns)
			account.ns[t->list[i].phase] += (uint64_t)(end_ns - begin_ns);
	}
	return account;
}

uint64_t sp_thread_timeline_validate(struct sp_thread_timeline *t, int64_t from_ns, int64_t to_ns)
{
	struct sp_account before = sp_thread_timeline_account(t, from_ns, to_ns);

	sp_thread_timeline_relabel(t, from_ns, to_ns, ~(1u << SP_ACCOUNT_checkpoint),
				   SP_ACCOUNT_validation);
	return before.ns[SP_ACCOUNT_loader_wait];
}

void sp_thread_timeline_keep(struct sp_thread_timeline *t, struct sp_spill *spill)
{
	t->spill = spill;
	t->list = sp_spill_keep(spill, t->list, t->count * sizeof(*t->list));
}

void sp_thread_timeline_finish(struct sp_thread_timeline *t)
{
	sp_spill_free(t->spill, t->list);
	*t = (struct sp_thread_timeline){.list = NULL};
}
