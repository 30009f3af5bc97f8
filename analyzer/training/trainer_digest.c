/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/trainer_digest.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/metadata/stage.h"

static void steps_fields(struct sp_digest_fields *f, struct sp_steps *s)
{
	uint32_t end = s->end;

	sp_digest_u32(f, &s->count);
	sp_digest_u32(f, &end);
	f->is_bad |= end > SP_STEP_BY_BATCH;
	s->end = f->is_bad ? SP_STEP_BY_OPTIMIZER : (enum sp_step_end)end;
	sp_digest_u32(f, &s->unrecorded);
	sp_digest_u32(f, &s->nccl_calls);
	sp_digest_bool(f, &s->has_backward);
	sp_digest_bool(f, &s->is_fed);
	sp_digest_bool(f, &s->is_fed_by_thread);
	sp_digest_bool(f, &s->has_forward);
	sp_digest_bool(f, &s->is_out_of_memory);
}

static void account_fields(struct sp_digest_fields *f, struct sp_trainer *t)
{
	for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++) {
		uint32_t source = t->steps.sources[phase];

		sp_digest_number(f, &t->account.ns[phase]);
		sp_digest_u32(f, &source);
		f->is_bad |= source > SP_FROM_RESIDUAL;
		t->steps.sources[phase] = f->is_bad ? SP_FROM_NOTHING : (uint8_t)source;
	}
}

void sp_trainer_digest_fields(struct sp_digest_fields *f, struct sp_trainer *t)
{
	uint8_t *bytes = t->series.bytes;
	uint32_t size = t->series.size;

	steps_fields(f, &t->steps);
	account_fields(f, t);
	sp_digest_bytes(f, &bytes, &size);
	if (!f->reads)
		return;
	f->is_bad |= sp_series_read(&t->series, bytes, f->is_bad ? 0 : size) < 0;
	free(bytes);
}

int sp_trainer_from_digest(struct sp_trainer *ret, struct sp_digested *digested)
{
	struct sp_digest_fields f = {.reads = true,
				     .in = {digested->steps,
					    digested->steps + digested->steps_bytes, 0}};
	bool any = digested->steps_bytes > 0;

	*ret = (struct sp_trainer){.stream = 0};
	if (any)
		sp_trainer_digest_fields(&f, ret);
	free(digested->steps);
	digested->steps = NULL;
	digested->steps_bytes = 0;
	if (any && sp_digest_is_read(&f) && ret->series.steps &&
	    ret->steps.count >= ret->series.steps)
		return 1;
	sp_series_finish(&ret->series);
	return 0;
}

static uint64_t add_name(uint64_t hash, const char *name)
{
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return (hash ^ '\n') * UINT64_C(0x100000001b3);
}

uint64_t sp_digest_schema(void)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < SP_STAGES; i++)
		hash = add_name(hash, sp_stage_name((enum sp_stage)i));
	for (int i = 0; i < SP_ACCOUNT_PHASES; i++)
		hash = add_name(hash, sp_account_name((enum sp_account_phase)i));
	return hash;
}
