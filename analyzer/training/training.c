/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/training.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/reader/clock_convert.h"
#include "analyzer/training/collective.h"
#include "analyzer/base/jobs.h"
#include "analyzer/metadata/run.h"
#include "analyzer/training/async_checkpoint.h"
#include "analyzer/training/step_classify.h"
#include "analyzer/training/step_cutter.h"
#include "analyzer/training/thread_feed.h"

#define GRAPHS_MIN 2u /* launched in a row; fewer are no loop */

struct training_pass {
	const struct sp_training *training;
	const struct sp_run *run;
	struct sp_reader *readers;  /* one a worker */
	struct sp_trainer *threads; /* that may train */
	enum sp_step_end *ends;	    /* parallel: by what steps end, as it was found out so far */
	bool *has_nccl_beside;	    /* parallel: other threads of the process call NCCL */
	uint32_t count;
	bool wants[SP_EVENT_KINDS];
};

static bool is_same_thread(const struct sp_run *run, uint32_t a, uint32_t b)
{
	const struct sp_stream *x = run->index.streams[a], *y = run->index.streams[b];

	return x->image == y->image && x->tid == y->tid;
}

/* A span at the end of a batch, whose EXTRA words the next one begins with. */
struct carry {
	struct sp_slot slot;
	uint64_t number; /* of the slot that comes next; 0: none is carried */
};

static void take_span(struct sp_gpu_time *gpu, const struct sp_clock *clock,
		      const struct sp_slot *slot, const struct sp_slot *extra)
{
	bool has_extra = extra && sp_commit_kind(extra->commit) == SP_KIND_EXTRA;

	sp_gpu_time_take(gpu, slot, has_extra ? extra : NULL,
			 sp_clock_realtime_ns(clock, slot->start),
			 sp_clock_realtime_ns(clock, slot->start + slot->ticks),
			 clock->ns_per_tick);
}

/* The batch is NULL at the end. */
static void take_carried(struct sp_gpu_time *gpu, const struct sp_clock *clock, struct carry *carry,
			 const struct sp_batch *batch)
{
	bool fits = batch && batch->n && batch->number == carry->number;

	if (carry->number)
		take_span(gpu, clock, &carry->slot, fits ? &batch->slots[0] : NULL);
	carry->number = 0;
}

/* One thread as it is read. */
struct thread {
	const struct training_pass *pass;
	const struct sp_clock *clock;
	struct sp_cutter cutter;
	struct sp_gpu_time *gpu;
	struct carry carry;
	struct sp_process_calls collectives; /* of its process */
};

static void take_event(struct thread *t, const struct sp_slot *slot, uint32_t kind)
{
	int64_t start_ns = sp_clock_realtime_ns(t->clock, slot->start);
	int64_t end_ns = sp_clock_realtime_ns(t->clock, slot->start + slot->ticks);

	t->cutter.steps->nccl_calls += sp_slot_is_nccl(t->cutter.image, slot);
	if (kind != SP_EV_cond_wait || sp_collective_wait(&t->collectives, &start_ns, &end_ns))
		sp_cutter_take(&t->cutter, slot, start_ns, end_ns);
}

static void take_batch(struct thread *t, const struct sp_batch *batch)
{
	take_carried(t->gpu, t->clock, &t->carry, batch);
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct sp_slot *slot = &batch->slots[i];
		uint32_t kind = sp_commit_kind(slot->commit);

		if (kind >= SP_EVENT_KINDS || !t->pass->wants[kind])
			continue;
		if (kind != SP_EV_gpu_span) {
			take_event(t, slot, kind);
			continue;
		}
		t->carry = (struct carry){*slot, batch->number + batch->n};
		if (i + 1 < batch->n) {
			t->carry.number = 0;
			take_span(t->gpu, t->clock, slot, slot + 1);
		}
	}
}

/* Finds for each step the collective that ended last among those that began in it. */
static void find_collectives(const struct sp_process_calls *calls, const struct sp_steps *steps,
			     struct sp_process_call *ret)
{
	for (uint32_t i = 0; i < calls->count; i++) {
		uint32_t step = sp_steps_at(steps, calls->list[i].start_ns);

		if (step < steps->count && calls->list[i].end_ns > ret[step].end_ns)
			ret[step] = calls->list[i];
	}
}

static struct sp_fold_step fold_step(const struct sp_trainer *own, uint32_t i,
				     const struct sp_process_call *collective)
{
	const struct sp_step *s = &own->steps.steps[i];
	struct sp_fold_step ret = {.number = sp_step_number(&own->steps, i),
				   .of = {[SP_FOLD_START] = s->start_ns,
					  [SP_FOLD_WALL] = s->end_ns - s->start_ns,
					  [SP_FOLD_STAY] = -1}};

	if (collective->end_ns) {
		ret.of[SP_FOLD_STAY] = collective->end_ns - collective->start_ns;
		ret.of[SP_FOLD_LEFT] = collective->end_ns;
	}
	for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
		ret.of[SP_FOLD_PHASE + phase] = (int64_t)s->account.ns[phase];
	return ret;
}

static int fold_steps(const struct sp_training *training, struct sp_trainer *own,
		      const struct sp_process_calls *calls)
{
	struct sp_folder folder = {.fold = &own->fold};
	struct sp_process_call *collectives = calloc(own->steps.count + 1u, sizeof(*collectives));
	int r = collectives ? 0 : -ENOMEM;

	if (r == 0)
		find_collectives(calls, &own->steps, collectives);
	for (uint32_t i = 0; r == 0 && i < own->steps.count; i++) {
		struct sp_fold_step step = fold_step(own, i, &collectives[i]);

		if (sp_step_is_selected(training, own, i))
			r = sp_folder_take(&folder, &step);
	}
	if (r == 0)
		r = sp_folder_finish(&folder);
	free(collectives);
	return r;
}

/* The steps are complete. */
static int finalize(const struct sp_training *training, struct sp_trainer *own,
		    const struct sp_process_calls *collectives)
{
	int r = sp_steps_classify(&own->steps);

	if (r == 0 && training->folds_steps)
		r = fold_steps(training, own, collectives);
	if (r == 0 && training->keeps_steps)
		return sp_gpu_time_finalize(&own->gpu, &own->steps);
	sp_gpu_time_finish(&own->gpu);
	sp_steps_drop_lists(&own->steps);
	return r;
}

/*
 * A thread that goes on after its clean end has several streams; they follow each other in the
 * index.
 */
static int read_steps(struct training_pass *pass, unsigned worker, uint32_t i,
		      const struct sp_process_calls *checkpoints)
{
	const struct sp_index *index = &pass->run->index;
	struct sp_reader *reader = &pass->readers[worker];
	struct sp_trainer *own = &pass->threads[i];
	uint32_t first = own->stream, image = index->streams[first]->image;
	struct thread t = {.pass = pass,
			   .gpu = &own->gpu,
			   .clock = &index->hosts[index->images[image].host].clock};
	int result = sp_collective_calls_read(&t.collectives, reader, pass->run, image);
	struct sp_batch batch;

	sp_cutter_init(&t.cutter, &own->steps, &pass->run->metadata.images[image]);
	t.cutter.checkpoints = checkpoints;
	for (uint32_t s = first; result == 0 && s < index->stream_count; s++) {
		if (!is_same_thread(pass->run, first, s))
			break;
		sp_reader_open(reader, index, index->streams[s]);
		while (sp_reader_next(reader, &batch))
			take_batch(&t, &batch);
		take_carried(t.gpu, t.clock, &t.carry, NULL);
	}
	sp_cutter_finish(&t.cutter);
	if (result == 0)
		result = finalize(pass->training, own, &t.collectives);
	sp_process_calls_finish(&t.collectives);
	return result;
}

static int read_thread(void *context, unsigned worker, uint32_t i)
{
	return read_steps(context, worker, i, NULL);
}

static bool may_train(const struct sp_run *run, uint32_t i)
{
	if (!run->metadata.images[run->index.streams[i]->image].may_step)
		return false;
	return sp_run_selects(run, i) && (i == 0 || !is_same_thread(run, i - 1, i));
}

static int list_threads(struct training_pass *pass)
{
	uint32_t n = pass->run->index.stream_count;

	pass->threads = calloc(n + 1u, sizeof(*pass->threads));
	pass->ends = calloc(n + 1u, sizeof(*pass->ends));
	pass->has_nccl_beside = calloc(n + 1u, sizeof(*pass->has_nccl_beside));
	if (!pass->threads || !pass->ends || !pass->has_nccl_beside)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (may_train(pass->run, i))
			pass->threads[pass->count++].stream = i;
	for (uint32_t kind = 0; kind < SP_EVENT_KINDS; kind++)
		pass->wants[kind] = sp_phase_interval_wants(kind) || kind == SP_EV_gpu_span;
	return 0;
}

static uint32_t image_of(const struct training_pass *pass, uint32_t i)
{
	return pass->run->index.streams[pass->threads[i].stream]->image;
}

/* True where a thread of the same process has steps. The threads of a process lie together. */
static bool has_steps(const struct training_pass *pass, uint32_t i)
{
	uint32_t image = image_of(pass, i);

	while (i > 0 && image_of(pass, i - 1) == image)
		i--;
	for (; i < pass->count && image_of(pass, i) == image; i++)
		if (pass->threads[i].steps.count)
			return true;
	return false;
}

static void trainer_finish(struct sp_trainer *trainer)
{
	sp_steps_finish(&trainer->steps);
	sp_gpu_time_finish(&trainer->gpu);
	sp_fold_finish(&trainer->fold);
}

/* Before its thread is read again. */
static void trainer_reset(struct sp_trainer *trainer, enum sp_step_end end)
{
	trainer_finish(trainer);
	trainer->steps.end = end;
}

static int read_again(void *context, unsigned worker, uint32_t i)
{
	struct training_pass *pass = context;

	if (pass->ends[i] == pass->threads[i].steps.end)
		return 0;
	trainer_reset(&pass->threads[i], pass->ends[i]);
	return read_thread(context, worker, i);
}

/*
 * Steps that were captured whole are launches of a graph: those after all that was done to warm up
 * and to capture it. A program that launches graphs when its training is over has captured no
 * optimizer.
 */
static bool replays_steps(const struct sp_steps *s, bool trains)
{
	return s->graphs >= GRAPHS_MIN && (!trains || (s->has_captured && s->graphs >= s->count));
}

/* By what steps end, of threads whose process has no optimizer that steps, or has captured it. */
static int read_otherwise(struct training_pass *pass)
{
	bool any = false;

	for (uint32_t i = 0; i < pass->count; i++) {
		const struct sp_steps *s = &pass->threads[i].steps;
		bool steps = has_steps(pass, i);

		if (replays_steps(s, steps || s->has_backward))
			pass->ends[i] = SP_STEP_BY_GRAPH;
		else if (s->has_backward && !steps)
			pass->ends[i] = SP_STEP_BY_BACKWARD;
		any |= pass->ends[i] != s->end;
	}
	return any ? sp_jobs_run(pass->run->jobs, pass->count, read_again, pass) : 0;
}

/* Calls of other threads of its process that a training thread may have waited for. */
struct others {
	struct sp_process_calls checkpoints, feed, nccl;
	bool has_nccl; /* there are calls of NCCL by other threads */
};

/* The threads of a process lie together. */
static bool calls_nccl_beside(const struct training_pass *pass, uint32_t own)
{
	uint32_t image = image_of(pass, own), i = own;

	while (i > 0 && image_of(pass, i - 1) == image)
		i--;
	for (; i < pass->count && image_of(pass, i) == image; i++)
		if (i != own && pass->threads[i].steps.nccl_calls)
			return true;
	return false;
}

static bool has_loader_label(const struct sp_process_metadata *image)
{
	for (uint32_t id = 0; id < image->label_room; id++)
		if (image->label_uses[id] == SP_LABEL_LOADER)
			return true;
	return false;
}

static int read_others(struct training_pass *pass, unsigned worker, uint32_t i,
		       struct others *others)
{
	const struct sp_trainer *own = &pass->threads[i];
	uint32_t image = pass->run->index.streams[own->stream]->image;
	const struct sp_process_metadata *metadata = &pass->run->metadata.images[image];
	struct sp_reader *reader = &pass->readers[worker];
	int result = 0;

	if (own->steps.count && metadata->saves)
		result = sp_async_checkpoints_read(&others->checkpoints, reader, pass->run,
						   own->stream);
	if (result == 0 && own->steps.count && !own->steps.is_fed && has_loader_label(metadata))
		result = sp_feed_read(&others->feed, reader, pass->run, own->stream);
	if (result == 0 && own->steps.count && others->has_nccl)
		result = sp_process_calls_read(&others->nccl, reader, pass->run, image,
					       pass->run->index.streams[own->stream]->tid,
					       sp_slot_is_nccl);
	return result;
}

static int read_with_others(void *context, unsigned worker, uint32_t i)
{
	struct training_pass *pass = context;
	struct sp_steps *steps = &pass->threads[i].steps;
	struct others others = {.has_nccl = pass->has_nccl_beside[i]};
	int result = read_others(pass, worker, i, &others);

	if (result == 0 && (others.checkpoints.count || others.feed.count || others.nccl.count)) {
		trainer_reset(&pass->threads[i], steps->end);
		steps->feed = others.feed.count ? &others.feed : NULL;
		steps->is_fed_by_thread = others.feed.count > 0;
		steps->nccl = others.nccl.count ? &others.nccl : NULL;
		steps->saved_beside_ns = sp_async_checkpoints_total(&others.checkpoints);
		result = read_steps(pass, worker, i, &others.checkpoints);
		steps->feed = NULL;
		steps->nccl = NULL;
	}
	sp_process_calls_finish(&others.checkpoints);
	sp_process_calls_finish(&others.feed);
	sp_process_calls_finish(&others.nccl);
	return result;
}

static int readers_init(struct training_pass *pass)
{
	int result = 0;

	for (unsigned i = 0; i < pass->run->jobs; i++)
		if (sp_reader_init(&pass->readers[i]) < 0)
			result = -ENOMEM;
	return result;
}

static int read_threads(struct training_pass *pass)
{
	unsigned jobs = pass->run->jobs;
	int result;

	pass->readers = calloc(jobs, sizeof(*pass->readers));
	if (!pass->readers)
		return -ENOMEM;
	result = readers_init(pass);
	if (result == 0)
		result = sp_jobs_run(jobs, pass->count, read_thread, pass);
	if (result == 0)
		result = read_otherwise(pass);
	for (uint32_t i = 0; i < pass->count; i++)
		pass->has_nccl_beside[i] = calls_nccl_beside(pass, i);
	if (result == 0)
		result = sp_jobs_run(jobs, pass->count, read_with_others, pass);
	for (unsigned i = 0; i < jobs; i++)
		sp_reader_finish(&pass->readers[i]);
	return result;
}

static int keep_trainers(struct sp_training *training, struct training_pass *pass)
{
	training->trainers = calloc(pass->count + 1u, sizeof(*training->trainers));
	if (!training->trainers)
		return -ENOMEM;
	for (uint32_t i = 0; i < pass->count; i++) {
		if (pass->threads[i].steps.count) {
			training->trainers[training->count++] = pass->threads[i];
			pass->threads[i] = (struct sp_trainer){.stream = 0};
		}
	}
	return 0;
}

static bool any_steps(const struct training_pass *pass)
{
	for (uint32_t i = 0; i < pass->count; i++)
		if (pass->threads[i].steps.count)
			return true;
	return false;
}

static void pass_finish(struct training_pass *pass)
{
	for (uint32_t i = 0; pass->threads && i < pass->count; i++)
		trainer_finish(&pass->threads[i]);
	free(pass->readers);
	free(pass->threads);
	free(pass->ends);
	free(pass->has_nccl_beside);
	pass->readers = NULL;
	pass->threads = NULL;
	pass->ends = NULL;
	pass->has_nccl_beside = NULL;
	pass->count = 0;
}

/* A main thread that may loop over a loader. Threads that read ahead take batches for others. */
static bool may_loop(const struct sp_run *run, uint32_t i)
{
	const struct sp_stream *stream = run->index.streams[i];

	return has_loader_label(&run->metadata.images[stream->image]) &&
	       run->index.images[stream->image].pid == stream->tid && sp_run_selects(run, i) &&
	       (i == 0 || !is_same_thread(run, i - 1, i));
}

/* A model that was called makes a loop over batches evaluation, which has no steps. */
static void drop_evaluations(struct training_pass *pass)
{
	for (uint32_t i = 0; i < pass->count; i++)
		if (pass->threads[i].steps.has_forward || pass->threads[i].steps.has_backward)
			trainer_reset(&pass->threads[i], SP_STEP_BY_BATCH);
}

/* Nothing in the run updates a model: loops over loaders are read by their batches. */
static int read_loops(struct training_pass *pass)
{
	uint32_t n = pass->run->index.stream_count;
	unsigned jobs = pass->run->jobs;
	int result;

	pass_finish(pass);
	pass->threads = calloc(n + 1u, sizeof(*pass->threads));
	pass->readers = calloc(jobs, sizeof(*pass->readers));
	if (!pass->threads || !pass->readers)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		if (!may_loop(pass->run, i))
			continue;
		pass->threads[pass->count].stream = i;
		pass->threads[pass->count++].steps.end = SP_STEP_BY_BATCH;
	}
	result = readers_init(pass);
	if (result == 0)
		result = sp_jobs_run(jobs, pass->count, read_thread, pass);
	drop_evaluations(pass);
	for (unsigned i = 0; i < jobs; i++)
		sp_reader_finish(&pass->readers[i]);
	return result;
}

int sp_training_read(struct sp_training *training)
{
	struct training_pass pass = {.training = training, .run = training->run};
	int result = list_threads(&pass);

	if (result == 0 && pass.count)
		result = read_threads(&pass);
	if (result == 0 && !any_steps(&pass))
		result = read_loops(&pass);
	if (result == 0)
		result = keep_trainers(training, &pass);
	pass_finish(&pass);
	return result;
}

void sp_training_finish(struct sp_training *training)
{
	for (uint32_t i = 0; i < training->count; i++)
		trainer_finish(&training->trainers[i]);
	free(training->trainers);
	training->trainers = NULL;
	training->count = 0;
}

static bool is_in_time(const struct sp_run *run, const struct sp_step *step)
{
	const struct sp_selection *s = &run->selection;
	int64_t at_ns = step->start_ns - run->begin_ns;

	return at_ns >= s->from_ns && at_ns < s->to_ns;
}

bool sp_step_is_selected(const struct sp_training *training, const struct sp_trainer *trainer,
			 uint32_t i)
{
	const struct sp_step_selection *s = &training->selection;
	const struct sp_step *step = &trainer->steps.steps[i];
	uint32_t number = sp_step_number(&trainer->steps, i);

	return number >= s->from && number < s->to && (int64_t)number >= s->warmup &&
	       (s->epoch < 0 || s->epoch == step->epoch) && is_in_time(training->run, step);
}

bool sp_pause_is_selected(const struct sp_training *training, const struct sp_trainer *trainer,
			  const struct sp_pause *p)
{
	return (!p->step || sp_step_is_selected(training, trainer, p->step - 1)) &&
	       (p->step == trainer->steps.count || sp_step_is_selected(training, trainer, p->step));
}

/* A pause at either end has no other known end: what it is for counts, and no time between. */
static void merge_ends(struct sp_account *sum, const struct sp_account *pause)
{
	static const enum sp_account_phase known[] = {SP_ACCOUNT_validation, SP_ACCOUNT_evaluation,
						      SP_ACCOUNT_checkpoint};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		sum->ns[known[i]] += pause->ns[known[i]];
}

struct sp_account sp_trainer_account(const struct sp_training *training,
				     const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_account sum = {.ns = {0}};

	for (uint32_t i = 0; i < s->count; i++)
		if (sp_step_is_selected(training, trainer, i))
			sp_account_merge(&sum, &s->steps[i].account);
	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (!sp_pause_is_selected(training, trainer, p))
			continue;
		if (p->step && p->step < s->count)
			sp_account_merge(&sum, &p->account);
		else
			merge_ends(&sum, &p->account);
	}
	return sum;
}

struct sp_account sp_training_ends(const struct sp_training *training)
{
	struct sp_account sum = {.ns = {0}};

	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_trainer *trainer = &training->trainers[t];
		const struct sp_steps *s = &trainer->steps;

		for (uint32_t i = 0; i < s->pause_count; i++)
			if ((!s->pauses[i].step || s->pauses[i].step == s->count) &&
			    sp_pause_is_selected(training, trainer, &s->pauses[i]))
				merge_ends(&sum, &s->pauses[i].account);
	}
	return sum;
}

const struct sp_trainer *sp_training_of(const struct sp_training *training, uint32_t image)
{
	for (uint32_t i = 0; i < training->count; i++)
		if (training->run->index.streams[training->trainers[i].stream]->image == image)
			return &training->trainers[i];
	return NULL;
}

struct sp_account sp_training_account(const struct sp_training *training)
{
	struct sp_account sum = {.ns = {0}};

	for (uint32_t t = 0; t < training->count; t++) {
		struct sp_account one = sp_trainer_account(training, &training->trainers[t]);

		sp_account_merge(&sum, &one);
	}
	return sum;
}

bool sp_training_is_fed_by_thread(const struct sp_training *training)
{
	for (uint32_t t = 0; t < training->count; t++)
		if (training->trainers[t].steps.is_fed_by_thread)
			return true;
	return false;
}

bool sp_training_is_unfed(const struct sp_training *training)
{
	for (uint32_t t = 0; t < training->count; t++)
		if (training->trainers[t].steps.is_fed ||
		    training->trainers[t].steps.is_fed_by_thread)
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
