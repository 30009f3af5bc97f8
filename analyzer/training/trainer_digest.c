/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/trainer_digest.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/instant.h"
#include "analyzer/base/spill.h"
#include "analyzer/metadata/stage.h"

static void steps_fields(struct sp_digest_fields *f, struct sp_steps *s)
{
	uint32_t end = s->end;

	sp_digest_u32(f, &s->count);
	sp_digest_u32(f, &end);
	f->is_bad |= end > SP_STEP_BY_UPDATING_BACKWARD;
	s->end = f->is_bad ? SP_STEP_BY_OPTIMIZER : (enum sp_step_end)end;
	sp_digest_u32(f, &s->unrecorded);
	sp_digest_u32(f, &s->nccl_calls);
	sp_digest_bool(f, &s->has_backward);
	sp_digest_bool(f, &s->is_fed);
	sp_digest_bool(f, &s->is_fed_by_thread);
	sp_digest_bool(f, &s->has_forward);
	sp_digest_bool(f, &s->is_out_of_memory);
	sp_digest_bool(f, &s->has_exchanges);
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

/* The sum over the run has the account of the others. */
static bool is_kept(const struct sp_steps *s, const struct sp_pause *p)
{
	return !p->step || p->step >= s->count || p->is_validation;
}

static void pause_fields(struct sp_digest_fields *f, struct sp_pause *p)
{
	sp_digest_u32(f, &p->step);
	sp_digest_instant(f, &p->start_ns);
	sp_digest_instant(f, &p->end_ns);
	sp_digest_bool(f, &p->is_validation);
	sp_digest_number(f, &p->validation_wait_ns);
	for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
		sp_digest_number(f, &p->account.ns[phase]);
}

static void epoch_fields(struct sp_digest_fields *f, struct sp_epoch *e)
{
	sp_digest_u32(f, &e->first_step);
	sp_digest_u32(f, &e->steps);
	sp_digest_instant(f, &e->start_ns);
	sp_digest_instant(f, &e->end_ns);
	sp_digest_number(f, &e->training_ns);
	sp_digest_number(f, &e->validation_ns);
	sp_digest_number(f, &e->validation_wait_ns);
	sp_digest_number(f, &e->wait_ns);
	sp_digest_number(f, &e->checkpoint_ns);
}

/* Room for as many as the bytes that are left may hold. NULL: there are none. */
static void *list_room(struct sp_digest_fields *f, uint32_t count, size_t size)
{
	void *list;

	f->is_bad |= count > (size_t)(f->in.end - f->in.at);
	list = f->is_bad || !count ? NULL : calloc(count, size);
	f->is_bad |= count && !list;
	return list;
}

static void pauses_fields(struct sp_digest_fields *f, struct sp_steps *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; !f->reads && s->pauses && i < s->pause_count; i++)
		kept += is_kept(s, &s->pauses[i]);
	sp_digest_u32(f, &kept);
	if (f->reads) {
		s->pauses = list_room(f, kept, sizeof(*s->pauses));
		s->pause_count = s->pauses ? kept : 0;
	}
	for (uint32_t i = 0; s->pauses && i < s->pause_count && !f->is_bad; i++)
		if (f->reads || is_kept(s, &s->pauses[i]))
			pause_fields(f, &s->pauses[i]);
}

static void epochs_fields(struct sp_digest_fields *f, struct sp_steps *s)
{
	uint32_t count = s->epochs ? s->epoch_count : 0;

	sp_digest_u32(f, &count);
	if (f->reads) {
		s->epochs = list_room(f, count, sizeof(*s->epochs));
		s->epoch_count = s->epochs ? count : 0;
	}
	for (uint32_t i = 0; i < s->epoch_count && s->epochs && !f->is_bad; i++)
		epoch_fields(f, &s->epochs[i]);
}

void sp_trainer_digest_fields(struct sp_digest_fields *f, struct sp_trainer *t)
{
	uint8_t *bytes = t->series.bytes;
	uint32_t size = t->series.size;

	steps_fields(f, &t->steps);
	account_fields(f, t);
	sp_digest_number(f, &t->nccl_elsewhere_ns);
	sp_digest_number(f, &t->steps.saved_beside_ns);
	pauses_fields(f, &t->steps);
	epochs_fields(f, &t->steps);
	sp_digest_bytes(f, &bytes, &size);
	if (!f->reads)
		return;
	f->is_bad |= sp_series_read(&t->series, bytes, f->is_bad ? 0 : size) < 0;
	free(bytes);
}

int sp_trainer_from_digest(struct sp_trainer *ret, struct sp_digested *digested)
{
	struct sp_digest_fields f = sp_digest_fields_of(digested->steps, digested->steps_bytes);
	bool any = digested->steps_bytes > 0;

	*ret = (struct sp_trainer){.is_digested = true};
	if (any)
		sp_trainer_digest_fields(&f, ret);
	sp_spill_free(digested->spill, digested->steps);
	sp_series_keep(&ret->series, digested->spill);
	digested->steps = NULL;
	digested->steps_bytes = 0;
	if (any && sp_digest_is_read(&f) && ret->series.steps &&
	    ret->steps.count >= ret->series.steps)
		return 1;
	sp_series_finish(&ret->series);
	sp_steps_finish(&ret->steps);
	return 0;
}

int sp_series_steps(const struct sp_step_series *series, uint32_t block, uint64_t columns,
		    uint32_t number, struct sp_step *steps)
{
	uint32_t first = series->blocks[block].number * SP_SERIES_STEPS;
	int64_t values[SP_SERIES_STEPS];

	for (int column = 0; column < SP_SERIES_COLUMNS; column++) {
		if (!(columns >> column & 1))
			continue;
		if (sp_series_column(series, block, (enum sp_series_column)column, values) < 0)
			return -EBADMSG;
		for (uint32_t i = 0; i < series->blocks[block].steps; i++) {
			struct sp_step *s = &steps[i];

			if (column == SP_SERIES_WALL && !(columns >> SP_SERIES_START & 1))
				s->start_ns = 0;
			if (column == SP_SERIES_NUMBER)
				s->unrecorded = first + (uint32_t)values[i] - (number + i);
			else if (column == SP_SERIES_START)
				s->start_ns = values[i];
			else if (column == SP_SERIES_WALL)
				s->end_ns = sp_instant(s->start_ns + values[i]);
			else if (column == SP_SERIES_KIND)
				s->kind = values[i] <= SP_STEP_INTERRUPTED ? (uint8_t)values[i]
									   : SP_STEP_STEADY;
			else if (column == SP_SERIES_EPOCH)
				s->epoch = values[i] < UINT32_MAX ? (uint32_t)values[i] : 0;
			else if (column >= SP_SERIES_PHASE)
				s->account.ns[column - SP_SERIES_PHASE] = (uint64_t)values[i];
		}
	}
	return 0;
}

int sp_trainer_expand(struct sp_trainer *t)
{
	uint32_t n = 0;
	int r = 0;

	t->steps.steps = calloc(t->series.steps + 1u, sizeof(*t->steps.steps));
	if (!t->steps.steps)
		return -ENOMEM;
	for (uint32_t b = 0; r == 0 && b < t->series.block_count; b++) {
		r = sp_series_steps(&t->series, b, SP_SERIES_STEP, n, t->steps.steps + n);
		n += t->series.blocks[b].steps;
	}
	t->steps.count = n;
	if (r < 0) /* sp_series_read() has read these bytes */
		sp_steps_drop_steps(&t->steps);
	sp_steps_keep(&t->steps, t->series.spill);
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
