/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/input_sums.h"

#include "analyzer/base/add_up.h"
#include "analyzer/base/each.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"

#define LATE_NS 100000000 /* a worker may end after the pause in which its loader did */
#define VALIDATING 0.75
#define LOCKS_ERROR 1.2	      /* of the time that workers can wait for each other's locks */
#define OWN_COLLATE_LEAST 0.1 /* of the work on batches */

static double sum_of(const struct sp_work_sums *sums, enum sp_work_kind kind)
{
	return SP_SUM(double, work, SP_WORKS,
		      (sp_work_kind((enum sp_work)work) == kind) ? (double)sums->ns[work] : 0);
}

static struct sp_made made_of(const struct sp_work_sums *sums)
{
	struct sp_made made = {.decode = sum_of(sums, SP_WORK_KIND_DECODE),
			       .read = sum_of(sums, SP_WORK_KIND_READ),
			       .receive = sum_of(sums, SP_WORK_KIND_RECEIVE)};

	made.all = made.decode + (made.read + sum_of(sums, SP_WORK_KIND_MAKE)) + made.receive;
	return made;
}

/* True for a worker that lived only in one pause between steps, or made VALIDATING of its batches
 * while the trainer validated: a few may be made ahead. */
static bool is_validating(const struct sp_training *training, const struct sp_worker *w)
{
	const struct sp_steps *s = &training->trainers[w->trainer].steps;

	return (double)w->validation_batches >= VALIDATING * (double)w->fetches.batches ||
	       SP_ANY(i, s->pause_count,
		      s->pauses[i].is_validation && w->begin_ns >= s->pauses[i].start_ns &&
			      w->end_ns <= s->pauses[i].end_ns + LATE_NS);
}

/* True for a training thread that makes batches of validation alone. */
static bool makes_no_step(const struct sp_training *training, const struct sp_worker *w)
{
	const struct sp_steps *s = &training->trainers[w->trainer].steps;

	return s->is_fed && !SP_ANY(i, s->count, s->steps[i].has_fetch);
}

/* Batches of validation are no batches of a step: they may be larger, or made in another way. */
static bool is_left_out(const struct sp_training *training, const struct sp_worker *w)
{
	return w->is_trainer ? makes_no_step(training, w) : is_validating(training, w);
}

/* Workers of one trainer that make batches for steps. */
static uint32_t alive_at(const struct sp_report *report, uint32_t trainer, int64_t at_ns)
{
	const struct sp_worker *w = report->workers.list;

	return SP_SUM(uint32_t, i, report->workers.count,
		      !w[i].is_trainer && w[i].trainer == trainer && w[i].begin_ns <= at_ns &&
			      at_ns < w[i].end_ns && !is_left_out(&report->training, &w[i]));
}

static bool is_on_thread(const struct sp_training *training, const struct sp_worker *w)
{
	return w->stream == training->trainers[w->trainer].stream;
}

/*
 * A fetch that hands its work to threads of its own process (a pool, a library's threads) waits for
 * them as for a lock. The kernel does not count them apart by time, so all that they ran, or were
 * ready to run, may have been in such waits.
 */
static void count_threads(struct sp_input_sums *in, const struct sp_report *report,
			  const struct sp_worker *w, uint64_t locked_ns)
{
	struct sp_beside beside = sp_metrics_beside(report, w->stream, w->is_trainer);

	in->threads_ns += fmin((double)locked_ns, beside.cpu_ns + beside.ready_ns);
	if (w->is_trainer)
		return;
	in->beside.cpu_ns += beside.cpu_ns;
	in->beside.ready_ns += beside.ready_ns;
}

static void count_work(struct sp_input_sums *in, const struct sp_report *report,
		       const struct sp_worker *w)
{
	bool on_thread = is_on_thread(&report->training, w);
	const struct sp_fetches *fetches = on_thread ? &w->waited : &w->fetches;
	const struct sp_work_sums *whole = on_thread ? &w->meanwhile : &w->whole;

	SP_ADD_UP(&in->fetches, fetches);
	count_threads(in, report, w, fetches->locked_ns);
	SP_ADD_UP(&in->whole, whole);
	SP_ADD_UP(&in->meanwhile, &w->meanwhile);
}

/* Counts each worker at the middle of its life, because workers of the epoch before may end
 * late. */
static void count_workers(struct sp_input_sums *in, const struct sp_report *report)
{
	const struct sp_workers *workers = &report->workers;

	in->on_trainer = workers->count > 0;
	for (uint32_t i = 0; i < workers->count; i++) {
		const struct sp_worker *w = &workers->list[i];
		uint32_t alive;

		if (is_left_out(&report->training, w))
			continue;
		count_work(in, report, w);
		if (w->is_trainer)
			continue;
		in->on_trainer = false;
		in->lives++;
		alive = alive_at(report, w->trainer, w->begin_ns + (w->end_ns - w->begin_ns) / 2);
		in->at_once = alive > in->at_once ? alive : in->at_once;
	}
}

void sp_input_sums_read(struct sp_input_sums *in, const struct sp_report *report)
{
	count_workers(in, report);
	in->made = made_of(&in->whole);
	in->made_meanwhile = made_of(&in->meanwhile);
}

double sp_input_coreless(const struct sp_input_sums *in)
{
	double waits = (double)in->whole.ns[SP_WORK_fetch_wait];

	return waits > 0 ? fmax(0, 1 - in->threads_ns / waits) : 1;
}

bool sp_input_holds_up_itself(const struct sp_input_sums *in)
{
	double locked_ns = sp_input_locked_ns(in);

	return in->at_once > 1 &&
	       locked_ns <= LOCKS_ERROR * (in->made.all - locked_ns) * (double)(in->at_once - 1);
}

/* A collate_fn of the program's own may copy as much as PyTorch's, or compute. */
const char *sp_input_own_collate(const struct sp_input_sums *in)
{
	if (!in->on_trainer || sp_input_own_collate_ns(in) < OWN_COLLATE_LEAST * in->made.all)
		return "";
	return _(" The collate_fn is the program's own: if it copies megabytes, workers may make "
		 "it slower.");
}

double sp_input_others_idle(const struct sp_input_sums *in)
{
	double idle = (double)in->meanwhile.ns[SP_WORK_idle], all = in->made_meanwhile.all + idle;
	double others = in->at_once > 1 ? in->at_once / (in->at_once - 1.0) : 1;

	return all > 0 ? fmin(idle * others, all) / all : NAN;
}
