/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/training_time.h"

#include <math.h>

#include "analyzer/base/add_up.h"
#include "analyzer/base/intervals.h"
#include "analyzer/report/report.h"
#include "analyzer/training/training_account.h"

/* The time by which an epoch's start exceeds another batch. */
static void add_first(struct sp_training_time *t, const struct sp_step *step, uint64_t usual_ns,
		      bool is_run)
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

/* A loader begins before the first step, and its workers end after the last one. */
static void add_restart(struct sp_training_time *t, const struct sp_pause *p, bool is_end)
{
	double wait_ns = (double)p->account.ns[SP_ACCOUNT_loader_wait];

	if (is_end)
		*(p->step ? &t->run_end_ns : &t->run_start_ns) += wait_ns;
	else if (p->forked_before || p->forked_after)
		t->loader_start_ns += (double)p->account.ns[SP_ACCOUNT_other];
	t->first_ns += wait_ns;
}

static void add_pauses(struct sp_training_time *t, const struct sp_training *training,
		       const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];
		bool is_end = !p->step || p->step >= s->count;

		t->validation_wait_ns += (double)p->validation_wait_ns;
		if (!sp_pause_is_selected(training, trainer, p))
			continue;
		if (is_end || p->is_restart)
			add_restart(t, p, is_end);
		t->sum[SP_STEP_SUM_load] += (double)p->load_ns;
		t->end_load_ns += is_end ? (double)p->load_ns : 0;
	}
}

static void add_step(struct sp_training_time *t, const struct sp_step *step, bool is_first)
{
	const uint64_t *ns = step->account.ns;
	uint64_t wall_ns = sp_step_wall_ns(step);
	struct sp_epoch_waits *waits = &t->waits[step->epoch != 0][is_first];

	t->steps++;
	SP_ADD_UP(&t->in_steps, &step->account);
	for (int sum = 0; sum < SP_STEP_SUMS; sum++)
		t->sum[sum] += (double)step->sum[sum];
	/* Code that a closure's optimizer runs between backwards is in its own row. */
	t->sum[SP_STEP_SUM_cleared] -=
		(double)sp_rest_ns(step->sum[SP_STEP_SUM_cleared], ns[SP_ACCOUNT_other]);
	sp_rare_add(&t->rare_wait, ns[SP_ACCOUNT_loader_wait], t->wait.p50_ns);
	sp_rare_add(&t->rare_forward, ns[SP_ACCOUNT_forward], t->forward.p50_ns);
	sp_rare_add(&t->rare_backward, ns[SP_ACCOUNT_backward], t->backward.p50_ns);
	sp_rare_add(&t->rare_loop, ns[SP_ACCOUNT_other], t->loop.p50_ns);
	if (ns[SP_ACCOUNT_checkpoint] > step->sum[SP_STEP_SUM_load])
		t->beside_saves_ns += sp_rest_ns(ns[SP_ACCOUNT_other], t->loop.p50_ns);
	waits->ns += (double)ns[SP_ACCOUNT_loader_wait];
	waits->wall_ns += (double)wall_ns;
	waits->steps++;
	t->kinds[step->kind]++;
	t->own_ns[step->kind] += wall_ns - sp_account_sum(&step->account, SP_IS_SELDOM);
	t->loaders[step->loaders]++;
	for (uint32_t k = 0; step->loaders > 1 && k < step->loaders; k++)
		t->loader_ns[k] += (double)step->loader_ns[k];
}

static void add_steps(struct sp_training_time *t, const struct sp_training *training,
		      const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;
	uint64_t usual_wait_ns = t->wait.p50_ns, late_compiles = 0;
	uint32_t epochs = 0;

	/* Where most iterators give one batch, the usual wait is one for a first batch. */
	if (s->trained_passes && 2 * s->single_passes >= s->trained_passes)
		usual_wait_ns = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct sp_step *step = &s->steps[i];

		late_compiles += i >= s->count / 2 && step->account.ns[SP_ACCOUNT_compile];
		if (!sp_step_is_selected(training, trainer, i))
			continue;
		add_step(t, step, i == s->epochs[step->epoch].first_step);
		if (i != s->epochs[step->epoch].first_step)
			continue;
		add_first(t, step, usual_wait_ns, i == 0);
		epochs++;
	}
	t->epochs = epochs > t->epochs ? epochs : t->epochs;
	t->late_compiles = late_compiles > t->late_compiles ? late_compiles : t->late_compiles;
}

static void add_trainer(struct sp_training_time *t, const struct sp_training *training,
			const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	t->has_model_calls |= s->has_forward;
	t->is_forward_left_over |= s->is_forward_left_over;
	if (sp_index_has_digested(&training->run->index)) {
		t->steps += s->count;
		return;
	}
	t->trained_passes += s->trained_passes;
	t->single_passes += s->single_passes;
	t->fed_batches += s->is_fed ? s->wait_count : 0;
	t->fed_steps += s->is_fed ? s->count : 0;
	add_steps(t, training, trainer);
	add_pauses(t, training, trainer);
}

/* The training of one process. */
struct turns {
	uint32_t threads;
	int64_t start_ns, end_ns;
	uint64_t trained_ns; /* from each thread's first step to its last one */
};

static void add_turn(struct turns *turns, const struct sp_steps *s)
{
	int64_t start_ns = s->steps[0].start_ns, end_ns = s->steps[s->count - 1].end_ns;

	if (!turns->threads++ || start_ns < turns->start_ns)
		turns->start_ns = start_ns;
	turns->end_ns = end_ns > turns->end_ns ? end_ns : turns->end_ns;
	turns->trained_ns += (uint64_t)(end_ns - start_ns);
}

/* The time in which no thread trains. Threads that train at once make it too short, never too
 * long. */
static uint64_t apart_ns(const struct turns *turns)
{
	uint64_t span_ns = (uint64_t)(turns->end_ns - turns->start_ns);

	return turns->threads > 1 && span_ns > turns->trained_ns ? span_ns - turns->trained_ns : 0;
}

/* Trainers are in the order of streams, and those of a process follow each other. */
static void read_turns(struct sp_training_time *time, const struct sp_report *report)
{
	const struct sp_training *training = &report->training;
	uint32_t image = UINT32_MAX;
	struct turns turns = {0};
	uint64_t ns = 0;

	for (uint32_t i = 0; i < training->count && !sp_run_is_cut(&report->run); i++) {
		const struct sp_trainer *t = &training->trainers[i];

		if (!t->steps.count || !t->steps.steps)
			continue;
		if (report->run.index.streams[t->stream]->image != image) {
			ns += apart_ns(&turns);
			turns = (struct turns){0};
			image = report->run.index.streams[t->stream]->image;
		}
		add_turn(&turns, &t->steps);
		if (turns.threads > time->apart_threads)
			time->apart_threads = turns.threads;
	}
	time->apart_ns = ns + apart_ns(&turns);
}

/* A mixture of digests and events has steps of both, so no more than digests have. */
static int read_stats(struct sp_training_time *t, const struct sp_training *training)
{
	const struct {
		enum sp_account_phase of;
		struct sp_step_stats *ret;
	} steady[] = {{SP_ACCOUNT_loader_wait, &t->wait},
		      {SP_ACCOUNT_forward, &t->forward},
		      {SP_ACCOUNT_backward, &t->backward},
		      {SP_ACCOUNT_other, &t->loop}};
	int r = sp_step_stats(training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &t->wall);

	if (r < 0 || sp_index_has_digested(&training->run->index))
		return r;
	if (t->wall.count == 0)
		r = sp_step_stats(training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &t->wall);
	for (size_t i = 0; r == 0 && i < sizeof(steady) / sizeof(steady[0]); i++)
		r = sp_step_stats(training, steady[i].of, 1u << SP_STEP_STEADY, steady[i].ret);
	t->mean = sp_step_mean(training);
	return r;
}

int sp_training_time_read(struct sp_training_time *t, const struct sp_report *report)
{
	const struct sp_training *training = &report->training;
	int r;

	*t = (struct sp_training_time){.account = sp_training_account(training),
				       .ends = sp_training_ends(training)};
	r = read_stats(t, training);
	for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
		t->has[phase] = sp_training_source(training, (enum sp_account_phase)phase) !=
				SP_FROM_NOTHING;
	for (uint32_t i = 0; r == 0 && i < training->count; i++)
		add_trainer(t, training, &training->trainers[i]);
	t->first_ns += t->loader_start_ns;
	t->total = (double)sp_account_total(&t->account);
	if (r < 0 || sp_index_has_digested(&report->run.index))
		return r;
	read_turns(t, report);
	t->rare_communication_ns = sp_rest_ns(t->account.ns[SP_ACCOUNT_grad_sync],
					      t->in_steps.ns[SP_ACCOUNT_grad_sync]);
	return t->account.ns[SP_ACCOUNT_grad_sync]
		       ? sp_rare_communication(training, &t->rare_communication_ns)
		       : 0;
}

double sp_time_rare_loop_ns(const struct sp_training_time *t)
{
	uint64_t loop_ns = t->account.ns[SP_ACCOUNT_other];
	double ns = sp_rare_ns(&t->rare_loop) +
		    (double)sp_rest_ns(loop_ns, t->in_steps.ns[SP_ACCOUNT_other]);

	return 2 * ns >= (double)loop_ns ? ns : NAN;
}

double sp_time_warm_up_ns(const struct sp_training_time *t)
{
	double first = (double)t->kinds[SP_STEP_WARMUP], steady = (double)t->kinds[SP_STEP_STEADY];
	double ns = (double)t->own_ns[SP_STEP_WARMUP] -
		    (double)t->own_ns[SP_STEP_STEADY] / steady * first;

	return first > 0 && steady > 0 && ns > 0 ? ns : NAN;
}
