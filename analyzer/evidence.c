#include "analyzer/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/evidence_cpu.h"
#include "analyzer/evidence_device.h"
#include "analyzer/evidence_input.h"
#include "analyzer/lines.h"
#include "analyzer/clock.h"
#include "analyzer/ranks.h"
#include "analyzer/report.h"
#include "analyzer/step_stats.h"
#include "analyzer/text.h"
#include "analyzer/translate.h"

#define OWN_INPUT_LEAST 0.05
#define RARE_MOST 0.2 /* of the steps */
#define RARE_LEAST_NS 100000 /* beyond twice the median, which may be 0 */

/* The account of all trainers, and what of it are starts of epochs. */
struct time {
	struct sp_account account;
	double total;
	double first_ns; /* waits for first batches, and the end and start of loaders */
	double run_start_ns; /* of first_ns: the first batches of runs */
	uint32_t firsts, run_starts; /* epochs begun; of them runs */
	uint32_t epochs; /* most of any trainer */
	double awaited_ns, own_input_ns; /* sp_step */
	uint64_t steps;
};

/* What an epoch's start took more than another batch. */
static void add_first(struct time *t, const struct sp_step *step, uint64_t usual_ns, bool is_run)
{
	uint64_t ns = step->account.ns[SP_ACCOUNT_loader_wait];

	double more = ns > usual_ns ? (double)(ns - usual_ns) : 0;

	t->first_ns += more;
	t->firsts++;
	if (is_run) {
		t->run_start_ns += more;
		t->run_starts++;
	}
}

static void add_restarts(struct time *t, const struct sp_report *report,
			 const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (!p->is_restart || !p->step || p->step >= s->count ||
		    !sp_step_is_selected(report, trainer, p->step - 1) ||
		    !sp_step_is_selected(report, trainer, p->step))
			continue;
		t->first_ns += (double)p->account.ns[SP_ACCOUNT_loader_wait];
		if (p->forked_before || p->forked_after)
			t->first_ns += (double)p->account.ns[SP_ACCOUNT_other];
	}
}

static void add_trainer(struct time *t, const struct sp_report *report,
			const struct sp_trainer *trainer, uint64_t usual_wait_ns)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_account account = sp_trainer_account(report, trainer);
	uint32_t epochs = 0;

	sp_account_merge(&t->account, &account);
	for (uint32_t i = 0; i < s->count; i++) {
		if (!sp_step_is_selected(report, trainer, i))
			continue;
		t->steps++;
		t->awaited_ns += (double)s->steps[i].awaited_ns;
		t->own_input_ns += (double)s->steps[i].own_input_ns;
		if (i != s->epochs[s->steps[i].epoch].first_step)
			continue;
		add_first(t, &s->steps[i], usual_wait_ns, i == 0);
		epochs++;
	}
	add_restarts(t, report, trainer);
	t->epochs = epochs > t->epochs ? epochs : t->epochs;
}

static int read_time(struct time *t, struct sp_evidence *e, const struct sp_report *report)
{
	struct sp_step_stats wait, wall;
	int r = sp_step_stats(report, SP_ACCOUNT_loader_wait, 1u << SP_STEP_STEADY, &wait);

	if (r == 0)
		r = sp_step_stats(report, SP_STEP_WALL, 1u << SP_STEP_STEADY, &wall);
	if (r == 0 && wall.count == 0)
		r = sp_step_stats(report, SP_STEP_WALL, SP_STEP_KINDS_ALL, &wall);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < report->training.count; i++)
		add_trainer(t, report, &report->training.trainers[i], wait.p50_ns);
	t->total = (double)sp_account_total(&t->account);
	if (wall.count) {
		sp_evidence_set(e, SP_MEASURE_step_ns, (double)wall.p50_ns);
		sp_evidence_ratio(e, SP_MEASURE_step_mean_ns, (double)wall.total_ns,
				  (double)wall.count);
	}
	sp_evidence_ratio(e, SP_MEASURE_wait_mean_ns, (double)wait.total_ns, (double)wait.count);
	return 0;
}

static void set_part(struct sp_evidence *e, enum sp_measure_id measure, const struct time *t,
		     const struct sp_report *report, enum sp_account_part part)
{
	if (sp_training_source(&report->training, part) != SP_FROM_NOTHING)
		sp_evidence_ratio(e, measure, (double)t->account.ns[part], t->total);
}

/* Mapped memory and computing have no hook: that little input was seen does not say that there was little. */
static void set_own_input(struct sp_evidence *e, const struct time *t, double wait_ns)
{
	if (wait_ns < OWN_INPUT_LEAST * t->total)
		return;
	sp_evidence_ratio(e, SP_MEASURE_loader_wait_share, wait_ns, t->total);
	sp_evidence_ratio(e, SP_MEASURE_unfed_wait_share, wait_ns, t->total);
	sp_evidence_ratio(e, SP_MEASURE_awaited_share, t->awaited_ns, t->total);
	sp_evidence_ratio(e, SP_MEASURE_own_input_share, t->own_input_ns, t->total);
}

/* What is paid once a run, and what each epoch pays again. */
static void set_starts(struct sp_evidence *e, const struct time *t)
{
	uint32_t others = t->firsts - t->run_starts;

	if (others) {
		sp_evidence_ratio(e, SP_MEASURE_first_batch_ns, t->first_ns - t->run_start_ns, others);
		sp_evidence_ratio(e, SP_MEASURE_restart_share, t->first_ns - t->run_start_ns, t->total);
	}
	sp_evidence_ratio(e, SP_MEASURE_run_start_ns, t->run_start_ns, t->run_starts);
	sp_evidence_ratio(e, SP_MEASURE_run_start_share, t->run_start_ns, t->first_ns);
}

/* A first batch's wait counts as that alone, so that no time counts twice. */
static void set_loader(struct sp_evidence *e, const struct time *t, const struct sp_report *report)
{
	double wait = (double)t->account.ns[SP_ACCOUNT_loader_wait];

	if (sp_training_source(&report->training, SP_ACCOUNT_loader_wait) == SP_FROM_NOTHING)
		return;
	if (sp_training_is_unfed(&report->training)) {
		set_own_input(e, t, wait);
		return;
	}
	sp_evidence_ratio(e, SP_MEASURE_first_batch_share, t->first_ns, t->total);
	set_starts(e, t);
	sp_evidence_ratio(e, SP_MEASURE_loader_wait_share,
			  wait > t->first_ns ? wait - t->first_ns : 0, t->total);
}

/* What a thread writes is no part of the account: of that, what is not a checkpoint's. */
static double written_ns(const struct time *t, const struct sp_report *report)
{
	double checkpoint = (double)t->account.ns[SP_ACCOUNT_checkpoint], written = 0;

	for (uint32_t i = 0; i < report->training.count; i++) {
		const struct sp_sums *stages = report->streams[report->training.trainers[i].stream].stages;

		written += (double)(stages[SP_STAGE_file_write].total_ns +
				    stages[SP_STAGE_file_sync].total_ns);
	}
	return written > checkpoint ? written - checkpoint : 0;
}

/* Where no backward is seen nobody knows what of the rest is the model's. */
static void set_loop(struct sp_evidence *e, const struct time *t, const struct sp_report *report)
{
	if (sp_training_source(&report->training, SP_ACCOUNT_backward) == SP_FROM_NOTHING)
		return;
	set_part(e, SP_MEASURE_loop_share, t, report, SP_ACCOUNT_other);
	sp_evidence_ratio(e, SP_MEASURE_loop_ns, (double)t->account.ns[SP_ACCOUNT_other],
			  (double)t->steps);
	sp_evidence_ratio(e, SP_MEASURE_write_share, written_ns(t, report), t->total);
}

static void set_account(struct sp_evidence *e, const struct time *t, const struct sp_report *report)
{
	double compute = 0;

	static const enum sp_account_part computes[] = {
		SP_ACCOUNT_forward, SP_ACCOUNT_backward, SP_ACCOUNT_optimizer, SP_ACCOUNT_zero_grad,
		SP_ACCOUNT_sync_wait,
	};

	sp_evidence_set(e, SP_MEASURE_steps, (double)t->steps);
	sp_evidence_set(e, SP_MEASURE_epochs, t->epochs);
	set_loader(e, t, report);
	set_part(e, SP_MEASURE_checkpoint_share, t, report, SP_ACCOUNT_checkpoint);
	set_part(e, SP_MEASURE_copy_share, t, report, SP_ACCOUNT_h2d_copy);
	set_part(e, SP_MEASURE_communication_share, t, report, SP_ACCOUNT_grad_sync);
	set_part(e, SP_MEASURE_validation_share, t, report, SP_ACCOUNT_validation);
	set_part(e, SP_MEASURE_other_share, t, report, SP_ACCOUNT_other);
	set_loop(e, t, report);
	for (size_t i = 0; i < sizeof(computes) / sizeof(computes[0]); i++)
		compute += (double)t->account.ns[computes[i]];
	sp_evidence_ratio(e, SP_MEASURE_compute_share, compute, t->total);
}

/* The line of Python that waited longest, all in all. */
static void set_line(struct sp_evidence *e, const struct sp_report *report)
{
	struct sp_measure *m = &e->of[SP_MEASURE_sync_line];
	const struct sp_line *line, *longest = NULL;
	const char *tab;

	for (line = report->facts.slow.lines.by_key; line; line = line->hh.next)
		if (!longest || line->ticks > longest->ticks)
			longest = line;
	if (!longest)
		return;
	tab = memchr(longest->key.text, '\t', longest->text_bytes);
	sp_text_escape(m->text, sizeof(m->text), longest->key.text,
		       tab ? (size_t)(tab - longest->key.text) : longest->text_bytes);
	m->is_known = true;
}

/* Few steps that have more of a part than over twice what all have, of which the median tells. */
static void set_rare(struct sp_evidence *e, const struct sp_report *report, enum sp_measure_id measure,
		     enum sp_account_part part, uint64_t median_ns)
{
	struct sp_account account = sp_training_account(report);
	uint64_t steps = 0, rare = 0, more_ns = 0, usual_ns = 2 * median_ns + RARE_LEAST_NS;

	for (uint32_t t = 0; t < report->training.count; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];

		for (uint32_t i = 0; i < trainer->steps.count; i++) {
			uint64_t ns = trainer->steps.steps[i].account.ns[part];

			if (!sp_step_is_selected(report, trainer, i))
				continue;
			steps++;
			rare += ns > usual_ns;
			more_ns += ns > usual_ns ? ns - median_ns : 0;
		}
	}
	if (rare <= RARE_MOST * (double)steps)
		sp_evidence_ratio(e, measure, (double)more_ns, (double)sp_account_total(&account));
}

/* A batch is needed in each step: what few steps wait for is evaluation, a log, or many batches at once. */
static int set_rare_own_input(struct sp_evidence *e, const struct sp_report *report)
{
	struct sp_step_stats wait;
	int r;

	if (!e->of[SP_MEASURE_own_input_share].is_known)
		return 0;
	r = sp_step_stats(report, SP_ACCOUNT_loader_wait, 1u << SP_STEP_STEADY, &wait);
	if (r == 0)
		set_rare(e, report, SP_MEASURE_rare_own_input_share, SP_ACCOUNT_loader_wait, wait.p50_ns);
	return r;
}

/*
 * Where nobody waits for a device, a model's backward takes about twice its forward. What lies between a batch and
 * backward counts as forward.
 */
static int set_forward(struct sp_evidence *e, const struct sp_report *report)
{
	struct sp_step_stats forward, backward;
	int r = sp_step_stats(report, SP_ACCOUNT_forward, 1u << SP_STEP_STEADY, &forward);

	if (r == 0)
		r = sp_step_stats(report, SP_ACCOUNT_backward, 1u << SP_STEP_STEADY, &backward);
	if (r == 0 && !e->has_device)
		sp_evidence_ratio(e, SP_MEASURE_forward_ratio, (double)forward.p50_ns,
				  (double)backward.p50_ns);
	if (r == 0 && !e->has_device && e->of[SP_MEASURE_own_input_share].is_known)
		sp_evidence_ratio(e, SP_MEASURE_own_forward_ratio, (double)forward.p50_ns,
				  (double)backward.p50_ns);
	if (r == 0 && forward.p50_ns)
		set_rare(e, report, SP_MEASURE_rare_forward_share, SP_ACCOUNT_forward, forward.p50_ns);
	return r ? r : set_rare_own_input(e, report);
}

static uint64_t rank_of(const struct sp_report *report, const struct sp_rank *rank)
{
	uint32_t stream = report->training.trainers[rank->trainer].stream;
	const struct sp_image *image = &report->index.images[report->index.streams[stream]->image];

	return image->rank ? image->rank - 1 : rank->trainer;
}

/* How much earlier the others come than the rank that is latest: all of them would go on then. */
static void set_straggler(struct sp_evidence *e, const struct sp_report *report)
{
	struct sp_measure *text = &e->of[SP_MEASURE_straggler];
	const struct sp_rank *latest = NULL;

	for (uint32_t i = 0; i < report->ranks.count; i++) {
		const struct sp_rank *rank = &report->ranks.list[i];

		if (rank->is_straggler && (!latest || rank->behind_p50_ns > latest->behind_p50_ns))
			latest = rank;
	}
	if (!latest)
		return;
	snprintf(text->text, sizeof(text->text), _("rank %llu, longer in %s"),
		 (unsigned long long)rank_of(report, latest), sp_account_title(latest->cause));
	text->is_known = true;
	sp_evidence_ratio(e, SP_MEASURE_straggler_share, (double)latest->behind_p50_ns,
			  (double)latest->wall_p50_ns);
}

static bool has_loader_calls(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->index.image_count; i++) {
		const struct sp_image_facts *image = &report->facts.images[i];

		for (uint32_t id = 0; id < image->label_room; id++)
			if (image->label_uses[id] == SP_LABEL_LOADER)
				return true;
	}
	return false;
}

int sp_evidence_gather(struct sp_evidence *e, const struct sp_report *report)
{
	struct time time = {.total = 0};
	int r = read_time(&time, e, report);

	e->trainers = report->training.count;
	e->events_lost = report->lost + report->missing + report->holes;
	e->events_unknown = report->unknown;
	e->files_unread = sp_index_unread(&report->index);
	e->is_unfed = sp_training_is_unfed(&report->training);
	e->has_loader_calls = has_loader_calls(report);
	if (r < 0 || time.steps == 0)
		return r;
	set_account(e, &time, report);
	r = sp_evidence_device(e, &time.account, time.steps, report);
	if (r < 0)
		return r;
	r = set_forward(e, report);
	if (r < 0)
		return r;
	set_line(e, report);
	set_straggler(e, report);
	sp_evidence_cpu(e, report);
	sp_evidence_input(e, report);
	return 0;
}
