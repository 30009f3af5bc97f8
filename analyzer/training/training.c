/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/training.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/base/jobs.h"
#include "analyzer/base/order.h"
#include "analyzer/metadata/run.h"
#include "analyzer/steps/async_checkpoint.h"
#include "analyzer/steps/collective.h"
#include "analyzer/steps/thread_feed.h"
#include "analyzer/training/trainer_digest.h"
#include "analyzer/training/trainer_read.h"

#define GRAPHS_MIN 2u /* launched in a row; fewer are no loop */

/* A thread that may train. Those of a process lie together. */
struct training_thread {
	struct sp_trainer trainer;
	enum sp_step_end end; /* by what its steps end, as it was found out so far */
	bool leaves_calls;    /* sp_steps.leaves_calls, as it was found out */
	bool has_nccl_beside; /* other threads of the process call NCCL */
};

struct training_pass {
	const struct sp_training *training;
	const struct sp_run *run;
	struct sp_reader *readers; /* one a worker */
	struct training_thread *threads;
	uint32_t count;
	bool wants[SP_EVENT_KINDS];
};

static int read_steps(struct training_pass *pass, unsigned worker, uint32_t i,
		      const struct sp_process_calls *checkpoints)
{
	return sp_trainer_read(pass->training, &pass->readers[worker], pass->wants, checkpoints,
			       &pass->threads[i].trainer);
}

static int read_thread(void *context, unsigned worker, uint32_t i)
{
	return read_steps(context, worker, i, NULL);
}

static int read_threads(struct training_pass *pass, int (*read)(void *, unsigned, uint32_t))
{
	return sp_jobs_run(pass->run->jobs, pass->count, read, pass);
}

static bool may_train(const struct sp_run *run, uint32_t i)
{
	return sp_run_process(run, i)->may_step;
}

/* A main thread that may loop over a loader. Threads that read ahead take batches for others. */
static bool may_loop(const struct sp_run *run, uint32_t i)
{
	const struct sp_stream *stream = run->index.streams[i];

	return run->metadata.images[stream->image].asks_loader &&
	       run->index.images[stream->image].pid == stream->tid;
}

static void trainer_finish(struct sp_trainer *trainer)
{
	sp_steps_finish(&trainer->steps);
	sp_gpu_time_finish(&trainer->gpu);
	sp_series_finish(&trainer->series);
}

static void threads_finish(struct training_pass *pass)
{
	for (uint32_t i = 0; i < pass->count; i++)
		trainer_finish(&pass->threads[i].trainer);
	free(pass->threads);
	pass->threads = NULL;
	pass->count = 0;
}

static int list_threads(struct training_pass *pass, bool (*may)(const struct sp_run *, uint32_t),
			enum sp_step_end end)
{
	uint32_t n = pass->run->index.stream_count;

	threads_finish(pass);
	pass->threads = calloc(n + 1u, sizeof(*pass->threads));
	if (!pass->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		if (pass->run->index.streams[i]->digested || !may(pass->run, i) ||
		    !sp_run_selects(pass->run, i) ||
		    (i > 0 && sp_trainer_is_same_thread(pass->run, i - 1, i)))
			continue;
		pass->threads[pass->count].trainer.stream = i;
		pass->threads[pass->count++].trainer.steps.end = end;
	}
	return 0;
}

static uint32_t image_of(const struct training_pass *pass, uint32_t i)
{
	return pass->run->index.streams[pass->threads[i].trainer.stream]->image;
}

/* Sums over the threads of one process. */
struct process_sums {
	uint64_t steps, parted_steps, nccl_calls;
};

static struct process_sums process_of(const struct training_pass *pass, uint32_t i)
{
	struct process_sums sums = {.steps = 0};
	uint32_t image = image_of(pass, i);

	while (i > 0 && image_of(pass, i - 1) == image)
		i--;
	for (; i < pass->count && image_of(pass, i) == image; i++) {
		sums.steps += pass->threads[i].trainer.steps.count;
		sums.parted_steps += pass->threads[i].trainer.steps.parted_steps;
		sums.nccl_calls += pass->threads[i].trainer.steps.nccl_calls;
	}
	return sums;
}

/* Before its thread is read again. */
static void trainer_reset(struct sp_trainer *trainer, enum sp_step_end end, bool leaves_calls)
{
	trainer_finish(trainer);
	trainer->steps.end = end;
	trainer->steps.leaves_calls = leaves_calls;
}

static int read_again(void *context, unsigned worker, uint32_t i)
{
	struct training_pass *pass = context;
	struct training_thread *c = &pass->threads[i];

	if (c->end == c->trainer.steps.end && !c->leaves_calls)
		return 0;
	trainer_reset(&c->trainer, c->end, c->leaves_calls);
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

/*
 * Compiled functions that take gradients make data for steps of another framework: between most of
 * them, or on another thread of the process.
 */
static bool makes_data_by_calls(const struct sp_steps *s, const struct process_sums *process)
{
	if (!s->call_steps)
		return false;
	if (s->parted_steps)
		return 2 * (uint64_t)s->mixed_steps > s->parted_steps;
	return process->parted_steps > 0;
}

/* By what steps end, of threads whose process has no optimizer that steps, or has captured it, or
 * steps it in backward. */
static int read_otherwise(struct training_pass *pass)
{
	bool any = false;

	for (uint32_t i = 0; i < pass->count; i++) {
		struct training_thread *c = &pass->threads[i];
		const struct sp_steps *s = &c->trainer.steps;
		struct process_sums process = process_of(pass, i);

		if (replays_steps(s, process.steps || s->has_backward))
			c->end = SP_STEP_BY_GRAPH;
		else if (2 * (uint64_t)s->updating_backwards > s->backward_calls)
			c->end = SP_STEP_BY_UPDATING_BACKWARD;
		else if (s->has_backward && !process.steps)
			c->end = SP_STEP_BY_BACKWARD;
		c->leaves_calls = makes_data_by_calls(s, &process);
		any |= c->end != s->end || c->leaves_calls;
	}
	return any ? read_threads(pass, read_again) : 0;
}

/* Calls of other threads of its process that a training thread may have waited for. */
struct others {
	struct sp_process_calls checkpoints, feed, nccl;
};

static int read_others(struct training_pass *pass, unsigned worker, uint32_t i,
		       struct others *others)
{
	const struct sp_trainer *own = &pass->threads[i].trainer;
	const struct sp_stream *stream = pass->run->index.streams[own->stream];
	struct sp_reader *reader = &pass->readers[worker];
	int result;

	if (!own->steps.count)
		return 0;
	result = sp_async_checkpoints_read(&others->checkpoints, reader, pass->run, own->stream);
	if (result == 0 && !own->steps.is_fed &&
	    pass->run->metadata.images[stream->image].asks_loader)
		result = sp_feed_read(&others->feed, reader, pass->run, own->stream);
	if (result == 0 && pass->threads[i].has_nccl_beside)
		result = sp_process_calls_read(&others->nccl, reader, pass->run, stream->image,
					       stream->tid, sp_slot_is_nccl);
	return result;
}

static int read_with_others(void *context, unsigned worker, uint32_t i)
{
	struct training_pass *pass = context;
	struct sp_steps *steps = &pass->threads[i].trainer.steps;
	struct others others = {.nccl = {.list = NULL}};
	int result = read_others(pass, worker, i, &others);

	if (result == 0 && (others.checkpoints.count || others.feed.count || others.nccl.count)) {
		trainer_reset(&pass->threads[i].trainer, steps->end, steps->leaves_calls);
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

static int read_trainers(struct training_pass *pass)
{
	int result = list_threads(pass, may_train, SP_STEP_BY_OPTIMIZER);

	if (result == 0)
		result = read_threads(pass, read_thread);
	if (result == 0)
		result = read_otherwise(pass);
	for (uint32_t i = 0; i < pass->count; i++)
		pass->threads[i].has_nccl_beside =
			process_of(pass, i).nccl_calls > pass->threads[i].trainer.steps.nccl_calls;
	return result == 0 ? read_threads(pass, read_with_others) : result;
}

/* Nothing in the run updates a model: loops over loaders are read by their batches. A model that
 * was called makes a loop over batches evaluation, which has no steps. */
static int read_loops(struct training_pass *pass)
{
	int result = list_threads(pass, may_loop, SP_STEP_BY_BATCH);

	if (result == 0)
		result = read_threads(pass, read_thread);
	for (uint32_t i = 0; i < pass->count; i++) {
		struct sp_trainer *trainer = &pass->threads[i].trainer;

		if (trainer->steps.has_forward || trainer->steps.has_backward)
			trainer_reset(trainer, SP_STEP_BY_BATCH, false);
	}
	return result;
}

static int keep_trainers(struct sp_training *training, struct training_pass *pass)
{
	training->trainers = calloc(pass->count + 1u, sizeof(*training->trainers));
	if (!training->trainers)
		return -ENOMEM;
	for (uint32_t i = 0; i < pass->count; i++) {
		if (pass->threads[i].trainer.steps.count) {
			training->trainers[training->count++] = pass->threads[i].trainer;
			pass->threads[i].trainer = (struct sp_trainer){.stream = 0};
		}
	}
	return 0;
}

SP_ORDER(compare_trainers, struct sp_trainer, SP_UP(stream))

/* The steps of digests that are lists, and not only sums: 65 MB of them. */
#define LISTED_STEPS_MAX (UINT32_C(1) << 18)

/* The trainer with the most steps comes first, because the page draws it. */
static int expand_digested(struct sp_training *training)
{
	const struct sp_trainer *most = sp_training_main(training);
	uint64_t left = LISTED_STEPS_MAX;
	int r = 0;

	for (uint32_t i = 0; r == 0 && most && i <= training->count; i++) {
		struct sp_trainer *t = i ? &training->trainers[i - 1] : (struct sp_trainer *)most;

		if (!t->is_digested || t->steps.steps || (i && t->series.steps > left))
			continue;
		left -= t->series.steps < left ? t->series.steps : left;
		r = sp_trainer_expand(t);
	}
	return r;
}

/* The trainers of digests, whose threads have no events. */
static int add_digested(struct sp_training *training)
{
	const struct sp_index *index = &training->run->index;
	struct sp_trainer *list;

	if (!sp_index_has_digested(index))
		return 0;
	list = realloc(training->trainers,
		       (training->count + index->stream_count + 1u) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	training->trainers = list;
	for (uint32_t i = 0; i < index->stream_count; i++) {
		struct sp_trainer *trainer = &list[training->count];
		int r;

		if (!index->streams[i]->digested || !sp_run_selects(training->run, i))
			continue;
		r = sp_trainer_from_digest(trainer, index->streams[i]->digested);
		if (r == -ENOMEM)
			return r;
		trainer->stream = i;
		training->count += r > 0;
	}
	qsort(list, training->count, sizeof(*list), compare_trainers);
	return training->keeps_steps ? expand_digested(training) : 0;
}

static bool any_steps(const struct training_pass *pass)
{
	return SP_ANY(i, pass->count, pass->threads[i].trainer.steps.count);
}

static int read_events(struct sp_training *training)
{
	unsigned jobs = training->run->jobs;
	struct training_pass pass = {.training = training, .run = training->run};
	int result = 0;

	pass.readers = calloc(jobs, sizeof(*pass.readers));
	if (!pass.readers)
		return -ENOMEM;
	for (unsigned i = 0; i < jobs; i++)
		if (sp_reader_init(&pass.readers[i]) < 0)
			result = -ENOMEM;
	sp_trainer_wants(pass.wants);
	if (result == 0)
		result = read_trainers(&pass);
	if (result == 0 && !any_steps(&pass))
		result = read_loops(&pass);
	if (result == 0)
		result = keep_trainers(training, &pass);
	for (unsigned i = 0; i < jobs; i++)
		sp_reader_finish(&pass.readers[i]);
	free(pass.readers);
	threads_finish(&pass);
	return result;
}

int sp_training_read(struct sp_training *training)
{
	int result = read_events(training);

	return result == 0 ? add_digested(training) : result;
}

void sp_training_finish(struct sp_training *training)
{
	for (uint32_t i = 0; i < training->count; i++)
		trainer_finish(&training->trainers[i]);
	free(training->trainers);
	training->trainers = NULL;
	training->count = 0;
}

const struct sp_trainer *sp_training_of(const struct sp_training *training, uint32_t image)
{
	struct sp_stream *const *streams = training->run->index.streams;
	uint32_t low = 0, high = training->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (streams[training->trainers[middle].stream]->image < image)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == training->count || streams[training->trainers[low].stream]->image != image)
		return NULL;
	return &training->trainers[low];
}

bool sp_training_is_fed_by_thread(const struct sp_training *training)
{
	return SP_ANY(t, training->count, training->trainers[t].steps.is_fed_by_thread);
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
