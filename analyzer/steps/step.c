/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step.h"

#include <stdlib.h>

#include "analyzer/base/spill.h"
#include "analyzer/base/intervals.h"

uint32_t sp_steps_at(const struct sp_steps *s, int64_t at_ns)
{
	uint32_t i = SP_UPPER_BOUND(s->steps, s->count, end_ns, at_ns);

	return i < s->count && at_ns >= s->steps[i].start_ns ? i : s->count;
}

bool sp_pause_next(const struct sp_steps *s, const struct sp_pause *p, int64_t from_ns,
		   struct sp_pause_part *ret)
{
	bool has_parts = p->is_validation && p->has_passes && s->passes;

	*ret = (struct sp_pause_part){from_ns, p->end_ns, p->is_validation && !has_parts};
	for (uint32_t i = p->foreign.first; has_parts && i && i <= p->foreign.last; i++) {
		const struct sp_pass *pass = &s->passes[i - 1];

		if (pass->end_ns <= from_ns || pass->end_ns > ret->end_ns)
			continue;
		ret->is_validation = pass->start_ns <= from_ns;
		ret->end_ns = ret->is_validation ? pass->end_ns : pass->start_ns;
		break;
	}
	return ret->end_ns > from_ns;
}

void sp_steps_drop_steps(struct sp_steps *s)
{
	sp_spill_free(s->spill, s->steps);
	sp_spill_free(s->spill, s->waits);
	sp_thread_timeline_finish(&s->timeline);
	free(s->passes);
	s->steps = NULL;
	s->waits = NULL;
	s->passes = NULL;
}

void sp_steps_keep(struct sp_steps *s, struct sp_spill *spill)
{
	s->spill = spill;
	s->steps = sp_spill_keep(spill, s->steps, s->count * sizeof(*s->steps));
	s->waits = sp_spill_keep(spill, s->waits, s->wait_count * sizeof(*s->waits));
	sp_thread_timeline_keep(&s->timeline, spill);
}

void sp_steps_drop_lists(struct sp_steps *s)
{
	sp_steps_drop_steps(s);
	free(s->pauses);
	free(s->epochs);
	s->pauses = NULL;
	s->epochs = NULL;
}

void sp_steps_finish(struct sp_steps *s)
{
	sp_steps_drop_lists(s);
	*s = (struct sp_steps){.steps = NULL};
}
