/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/step.h"

#include <stdlib.h>

#include "analyzer/base/upper_bound.h"

uint32_t sp_steps_at(const struct sp_steps *s, int64_t at_ns)
{
	uint32_t i = SP_UPPER_BOUND(s->steps, s->count, end_ns, at_ns);

	return i < s->count && at_ns >= s->steps[i].start_ns ? i : s->count;
}

void sp_steps_drop_lists(struct sp_steps *s)
{
	free(s->steps);
	free(s->pauses);
	free(s->waits);
	free(s->backwards);
	free(s->passes);
	free(s->epochs);
	s->steps = NULL;
	s->pauses = NULL;
	s->waits = NULL;
	s->backwards = NULL;
	s->passes = NULL;
	s->epochs = NULL;
}

void sp_steps_finish(struct sp_steps *s)
{
	sp_steps_drop_lists(s);
	*s = (struct sp_steps){.steps = NULL};
}
