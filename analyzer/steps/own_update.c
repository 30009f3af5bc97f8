/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/own_update.h"

#include "analyzer/steps/step_machine.h"

/* The time after a backward, up to the next call of the model, as far as it is "other". */
struct stretch {
	uint64_t ns;
	bool is_open, is_cleared;
};

static void go_on(struct stretch *s, const struct sp_phase_interval *p)
{
	s->ns += p->loop_ns;
	if (p->is_in_other && !sp_interval_is(p, STRUCTURE) &&
	    sp_phase_interval_phase(p->kind) == SP_ACCOUNT_other && !p->is_own)
		s->ns += sp_phase_interval_own_ns(p);
	s->is_cleared |= p->kind == SP_INTERVAL_ZERO_GRAD;
}

static void end_stretch(const struct stretch *s, const struct sp_phase_interval *p,
			struct sp_own_update *update)
{
	if (p->kind == SP_INTERVAL_FORWARD)
		*(s->is_cleared ? &update->cleared_ns : &update->between_ns) += s->ns;
	else if (p->kind == SP_INTERVAL_OPTIMIZER && update->cleared_ns)
		update->cleared_ns += s->ns;
}

struct sp_own_update sp_own_update_of(const struct sp_phase_interval *intervals, uint32_t n)
{
	struct sp_own_update update = {0, 0};
	struct stretch s = {.is_open = false};

	for (uint32_t i = 0; i < n; i++) {
		const struct sp_phase_interval *p = &intervals[i];

		if (s.is_open)
			go_on(&s, p);
		if (!sp_interval_is(p, STRUCTURE))
			continue;
		if (s.is_open)
			end_stretch(&s, p, &update);
		s = (struct stretch){.is_open = p->kind == SP_INTERVAL_BACKWARD};
	}
	return update;
}
