#include "analyzer/training.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/clock.h"
#include "analyzer/collective.h"
#include "analyzer/jobs.h"
#include "analyzer/report.h"
#include "analyzer/saving.h"

#define GRAPHS_MIN 2u /* launched in a row; fewer are no loop */

struct reading {
	const struct sp_report *report;
	struct sp_reader *readers; /* one a worker */
	uint32_t *streams;	   /* the first of each thread */
	struct sp_steps *steps;	   /* parallel */
	enum sp_step_end *ends;	   /* parallel: by what steps end, as it was found out so far */
	uint32_t count;
	bool wants[SP_EVENT_KINDS];
};

static bool is_same_thread(const struct sp_report *report, uint32_t a, uint32_t b)
{
	const struct sp_stream *x = report->index.streams[a], *y = report->index.streams[b];

	return x->image == y->image && x->tid == y->tid;
}

/* A span at the end of a batch, whose EXTRA words the next one begins with. */
struct carry {
	struct sp_slot slot;
	uint64_t number; /* of the slot that comes next; 0: none is carried */
};

static void take_span(struct sp_cutter *cutter, const struct sp_clock *clock,
		      const struct sp_slot *slot, const struct sp_slot *extra)
{
	bool has_extra = extra && sp_commit_kind(extra->commit) == SP_KIND_EXTRA;

	sp_gpu_time_take(&cutter->steps->gpu, slot, has_extra ? extra : NULL,
			 sp_clock_realtime_ns(clock, slot->start),
			 sp_clock_realtime_ns(clock, slot->start + slot->ticks), clock->ns_per_tick);
}

/* The batch is NULL at the end. */
static void take_carried(struct sp_cutter *cutter, const struct sp_clock *clock, struct carry *carry,
			 const struct sp_batch *batch)
{
	bool fits = batch && batch->n && batch->number == carry->number;

	if (carry->number)
		take_span(cutter, clock, &carry->slot, fits ? &batch->slots[0] : NULL);
	carry->number = 0;
}

/* One thread as it is read. */
struct thread {
	const struct reading *reading;
	const struct sp_clock *clock;
	struct sp_cutter cutter;
	struct carry carry;
	struct sp_process_calls collectives; /* of its process */
};

static void take_event(struct thread *t, const struct sp_slot *slot, uint32_t kind)
{
	int64_t start_ns = sp_clock_realtime_ns(t->clock, slot->start);
	int64_t end_ns = sp_clock_realtime_ns(t->clock, slot->start + slot->ticks);

	if (kind != SP_EV_cond_wait || sp_collective_ended(&t->collectives, start_ns, end_ns))
		sp_cutter_take(&t->cutter, slot, start_ns, end_ns);
}

static void take_batch(struct thread *t, const struct sp_batch *batch)
{
	take_carried(&t->cutter, t->clock, &t->carry, batch);
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct sp_slot *slot = &batch->slots[i];
		uint32_t kind = sp_commit_kind(slot->commit);

		if (kind >= SP_EVENT_KINDS || !t->reading->wants[kind])
			continue;
		if (kind != SP_EV_gpu_span) {
			take_event(t, slot, kind);
			continue;
		}
		t->carry = (struct carry){*slot, batch->number + batch->n};
		if (i + 1 < batch->n) {
			t->carry.number = 0;
			take_span(&t->cutter, t->clock, slot, slot + 1);
		}
	}
}

/*
 * A thread that goes on after its clean end has several streams; they follow each other in the
 * index.
 */
static int read_steps(struct reading *r, unsigned worker, uint32_t i, const struct sp_process_calls *savings)
{
	const struct sp_index *index = &r->report->index;
	struct sp_reader *reader = &r->readers[worker];
	uint32_t first = r->streams[i], image = index->streams[first]->image;
	struct thread t = {.reading = r, .clock = &index->hosts[index->images[image].host].clock};
	int result = sp_collective_calls_read(&t.collectives, reader, r->report, image);
	struct sp_batch batch;

	sp_cutter_init(&t.cutter, &r->steps[i], &r->report->facts.images[image]);
	t.cutter.savings = savings;
	for (uint32_t s = first; result == 0 && s < index->stream_count; s++) {
		if (!is_same_thread(r->report, first, s))
			break;
		sp_reader_open(reader, index, index->streams[s]);
		while (sp_reader_next(reader, &batch))
			take_batch(&t, &batch);
		take_carried(&t.cutter, t.clock, &t.carry, NULL);
	}
	sp_cutter_finish(&t.cutter);
	sp_process_calls_finish(&t.collectives);
	return result ? result : sp_steps_settle(&r->steps[i]);
}

static int read_thread(void *context, unsigned worker, uint32_t i)
{
	return read_steps(context, worker, i, NULL);
}

static bool may_train(const struct sp_report *report, uint32_t i)
{
	if (!report->facts.images[report->index.streams[i]->image].may_step)
		return false;
	return sp_report_selects(report, i) && (i == 0 || !is_same_thread(report, i - 1, i));
}

static int list_threads(struct reading *r)
{
	uint32_t n = r->report->index.stream_count;

	r->streams = calloc(n + 1u, sizeof(*r->streams));
	r->steps = calloc(n + 1u, sizeof(*r->steps));
	r->ends = calloc(n + 1u, sizeof(*r->ends));
	if (!r->streams || !r->steps || !r->ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (may_train(r->report, i))
			r->streams[r->count++] = i;
	for (uint32_t kind = 0; kind < SP_EVENT_KINDS; kind++)
		r->wants[kind] = sp_cutter_wants(kind) || kind == SP_EV_gpu_span;
	return 0;
}

static bool has_steps(const struct reading *r, uint32_t image)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (r->steps[i].count && r->report->index.streams[r->streams[i]]->image == image)
			return true;
	return false;
}

static int read_again(void *context, unsigned worker, uint32_t i)
{
	struct reading *r = context;

	if (r->ends[i] == r->steps[i].end)
		return 0;
	sp_steps_finish(&r->steps[i]);
	r->steps[i] = (struct sp_steps){.end = r->ends[i]};
	return read_thread(context, worker, i);
}

/*
 * Steps that were captured whole are launches of a graph: those behind all that was done to warm up and to capture it. A
 * program that launches graphs when its training is over has captured no optimizer.
 */
static bool replays_steps(const struct sp_steps *s, bool trains)
{
	return s->graphs >= GRAPHS_MIN && (!trains || (s->has_captured && s->graphs >= s->count));
}

/* By what steps end, of threads whose process has no optimizer that steps, or has captured it. */
static int read_otherwise(struct reading *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct sp_steps *s = &r->steps[i];
		bool steps = has_steps(r, r->report->index.streams[r->streams[i]]->image);

		if (replays_steps(s, steps || s->has_backward))
			r->ends[i] = SP_STEP_BY_GRAPH;
		else if (s->has_backward && !steps)
			r->ends[i] = SP_STEP_BY_BACKWARD;
		any |= r->ends[i] != s->end;
	}
	return any ? sp_jobs_run(r->report->jobs, r->count, read_again, r) : 0;
}

static bool may_await_saving(const struct reading *r, uint32_t i)
{
	uint32_t image = r->report->index.streams[r->streams[i]]->image;

	return r->steps[i].count && r->report->facts.images[image].saves;
}

static int read_with_savings(void *context, unsigned worker, uint32_t i)
{
	struct reading *r = context;
	enum sp_step_end end = r->steps[i].end;
	struct sp_process_calls savings;
	int result;

	if (!may_await_saving(r, i))
		return 0;
	result = sp_savings_read(&savings, &r->readers[worker], r->report, r->streams[i]);
	if (result == 0 && savings.count) {
		sp_steps_finish(&r->steps[i]);
		r->steps[i] = (struct sp_steps){.end = end};
		result = read_steps(r, worker, i, &savings);
	}
	sp_process_calls_finish(&savings);
	return result;
}

static int read_threads(struct reading *r)
{
	unsigned jobs = r->report->jobs;
	int result = 0;

	r->readers = calloc(jobs, sizeof(*r->readers));
	if (!r->readers)
		return -ENOMEM;
	for (unsigned i = 0; i < jobs; i++)
		if (sp_reader_init(&r->readers[i]) < 0)
			result = -ENOMEM;
	if (result == 0)
		result = sp_jobs_run(jobs, r->count, read_thread, r);
	if (result == 0)
		result = read_otherwise(r);
	if (result == 0)
		result = sp_jobs_run(jobs, r->count, read_with_savings, r);
	for (unsigned i = 0; i < jobs; i++)
		sp_reader_finish(&r->readers[i]);
	return result;
}

static int keep_trainers(struct sp_training *training, struct reading *r)
{
	training->trainers = calloc(r->count + 1u, sizeof(*training->trainers));
	if (!training->trainers)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->count; i++) {
		if (r->steps[i].count) {
			training->trainers[training->count++] =
				(struct sp_trainer){r->streams[i], r->steps[i]};
			r->steps[i] = (struct sp_steps){.steps = NULL};
		}
	}
	return 0;
}

int sp_training_read(struct sp_training *training, const struct sp_report *report)
{
	struct reading r = {.report = report};
	int result = list_threads(&r);

	*training = (struct sp_training){.trainers = NULL};
	if (result == 0 && r.count)
		result = read_threads(&r);
	if (result == 0)
		result = keep_trainers(training, &r);
	for (uint32_t i = 0; r.steps && i < r.count; i++)
		sp_steps_finish(&r.steps[i]);
	free(r.readers);
	free(r.streams);
	free(r.steps);
	free(r.ends);
	return result;
}

void sp_training_finish(struct sp_training *training)
{
	for (uint32_t i = 0; i < training->count; i++)
		sp_steps_finish(&training->trainers[i].steps);
	free(training->trainers);
	*training = (struct sp_training){.trainers = NULL};
}

static bool is_in_time(const struct sp_report *report, const struct sp_step *step)
{
	const struct sp_selection *s = &report->selection;
	int64_t at_ns = step->start_ns - report->begin_ns;

	return at_ns >= s->from_ns && at_ns < s->to_ns;
}

bool sp_step_is_selected(const struct sp_report *report, const struct sp_trainer *trainer,
			 uint32_t i)
{
	const struct sp_step_selection *s = &report->step_selection;
	const struct sp_step *step = &trainer->steps.steps[i];
	uint32_t number = sp_step_number(&trainer->steps, i);

	return number >= s->from && number < s->to && (int64_t)number >= s->warmup &&
	       (s->epoch < 0 || s->epoch == step->epoch) && is_in_time(report, step);
}

struct sp_account sp_trainer_account(const struct sp_report *report,
				     const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_account sum = {.ns = {0}};

	for (uint32_t i = 0; i < s->count; i++)
		if (sp_step_is_selected(report, trainer, i))
			sp_account_merge(&sum, &s->steps[i].account);
	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (p->step && p->step < s->count &&
		    sp_step_is_selected(report, trainer, p->step - 1) &&
		    sp_step_is_selected(report, trainer, p->step))
			sp_account_merge(&sum, &p->account);
	}
	return sum;
}

const struct sp_trainer *sp_training_of(const struct sp_training *training,
					const struct sp_report *report, uint32_t image)
{
	for (uint32_t i = 0; i < training->count; i++)
		if (report->index.streams[training->trainers[i].stream]->image == image)
			return &training->trainers[i];
	return NULL;
}

struct sp_account sp_training_account(const struct sp_report *report)
{
	struct sp_account sum = {.ns = {0}};

	for (uint32_t t = 0; t < report->training.count; t++) {
		struct sp_account one =
			sp_trainer_account(report, &report->training.trainers[t]);

		sp_account_merge(&sum, &one);
	}
	return sum;
}

bool sp_training_is_unfed(const struct sp_training *training)
{
	for (uint32_t t = 0; t < training->count; t++)
		if (training->trainers[t].steps.is_fed)
			return false;
	return training->count > 0;
}

const struct sp_trainer *sp_training_main(const struct sp_training *training)
{
	const struct sp_trainer *most = NULL;

	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_trainer *trainer = &training->trainers[t];

		if (trainer->steps.count && (!most || trainer->steps.count > most->steps.count))
			most = trainer;
	}
	return most;
}
