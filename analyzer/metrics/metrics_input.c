/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_input.h"

#include <math.h>

#include "analyzer/report/report.h"
#include "analyzer/metrics/metrics_cpu.h"
#include "analyzer/text/translate.h"

/* A limit, because each worker is a process with its own memory, even if it needs little of a
 * core. */
#define WORKERS_A_CORE_MOST 4
#define LATE_NS 100000000     /* a worker may end after the pause in which its loader did */
#define LOCKS_ERROR 1.2	      /* of the time that workers can wait for each other's locks */
#define RELEASE_ERROR 1.5     /* of the calls of munmap: the release of what lay in the memory */
#define OWN_COLLATE_LEAST 0.1 /* of the work on batches */
#define ROUNDING 0.001	      /* a fraction of a worker that counts as none */

/* Sums over the workers. */
struct input {
	struct sp_work_sums whole, meanwhile;
	struct sp_fetches fetches; /* for steps */
	double threads_ns; /* of fetches.locked_ns: other threads of the process ran, at most */
	struct sp_beside beside; /* of other threads of the workers' processes */
	uint32_t lives;		 /* lives of workers */
	uint32_t at_once;	 /* workers at once, the most of any trainer */
	bool on_trainer;	 /* the training thread makes all batches */
};

static double sum_of(const struct sp_work_sums *sums, enum sp_work_kind kind)
{
	double sum = 0;

	for (int work = 0; work < SP_WORKS; work++)
		if (sp_work_kind((enum sp_work)work) == kind)
			sum += (double)sums->ns[work];
	return sum;
}

static double decoding(const struct sp_work_sums *sums)
{
	return sum_of(sums, SP_WORK_KIND_DECODE);
}

static double reading(const struct sp_work_sums *sums)
{
	return sum_of(sums, SP_WORK_KIND_READ);
}

/* All of making batches. */
static double making(const struct sp_work_sums *sums)
{
	return decoding(sums) + (reading(sums) + sum_of(sums, SP_WORK_KIND_MAKE)) +
	       sum_of(sums, SP_WORK_KIND_RECEIVE);
}

/* True for a worker that lived only in one pause between steps, or was asked in validations
 * alone. */
static bool is_validating(const struct sp_training *training, const struct sp_worker *w)
{
	const struct sp_steps *s = &training->trainers[w->trainer].steps;

	if (w->validation_batches == w->fetches.batches)
		return true;
	for (uint32_t i = 0; i < s->pause_count; i++)
		if (s->pauses[i].is_validation && w->begin_ns >= s->pauses[i].start_ns &&
		    w->end_ns <= s->pauses[i].end_ns + LATE_NS)
			return true;
	return false;
}

/* True for a training thread that makes batches of validation alone. */
static bool makes_no_step(const struct sp_training *training, const struct sp_worker *w)
{
	const struct sp_steps *s = &training->trainers[w->trainer].steps;

	for (uint32_t i = 0; i < s->count; i++)
		if (s->steps[i].has_fetch)
			return false;
	return s->is_fed;
}

/* Batches of validation are no batches of a step: they may be larger, or made in another way. */
static bool is_left_out(const struct sp_training *training, const struct sp_worker *w)
{
	return w->is_trainer ? makes_no_step(training, w) : is_validating(training, w);
}

/* Workers of one trainer that make batches for steps. */
static uint32_t alive_at(const struct sp_report *report, uint32_t trainer, int64_t at_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];

		n += !w->is_trainer && w->trainer == trainer && w->begin_ns <= at_ns &&
		     at_ns < w->end_ns && !is_left_out(&report->training, w);
	}
	return n;
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
static void count_threads(struct input *in, const struct sp_report *report,
			  const struct sp_worker *w, uint64_t locked_ns)
{
	struct sp_beside beside = sp_metrics_beside(report, w->stream, w->is_trainer);

	in->threads_ns += fmin((double)locked_ns, beside.cpu_ns + beside.ready_ns);
	if (w->is_trainer)
		return;
	in->beside.cpu_ns += beside.cpu_ns;
	in->beside.ready_ns += beside.ready_ns;
}

static void count_work(struct input *in, const struct sp_report *report, const struct sp_worker *w)
{
	bool on_thread = is_on_thread(&report->training, w);
	const struct sp_fetches *fetches = on_thread ? &w->waited : &w->fetches;
	const struct sp_work_sums *whole = on_thread ? &w->meanwhile : &w->whole;

	sp_fetches_merge(&in->fetches, fetches);
	count_threads(in, report, w, fetches->locked_ns);
	for (int work = 0; work < SP_WORKS; work++) {
		in->whole.ns[work] += whole->ns[work];
		in->meanwhile.ns[work] += w->meanwhile.ns[work];
	}
	in->whole.hdf5_file_ns += whole->hdf5_file_ns;
	in->meanwhile.hdf5_file_ns += w->meanwhile.hdf5_file_ns;
}

/* Counts each worker at the middle of its life, because workers of the epoch before may end
 * late. */
static void count_workers(struct input *in, const struct sp_report *report)
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

static bool waits_for_making(const struct sp_metrics *e)
{
	return sp_metrics_value(e, SP_METRIC_handover_wait_share) +
		       sp_metrics_value(e, SP_METRIC_sampler_wait_share) <
	       SP_BATCH_RECEIVE_MOST;
}

/* The part of the waits inside fetches that needs no core, at least. */
static double coreless(const struct input *in)
{
	double waits = (double)in->whole.ns[SP_WORK_fetch_wait];

	return waits > 0 ? fmax(0, 1 - in->threads_ns / waits) : 1;
}

/*
 * The work on batches while the trainer waited for them, without the time of sending them. A
 * trainer that makes its own batches is never idle.
 */
static void set_work(struct sp_metrics *e, const struct input *in)
{
	const struct sp_work_sums *m = &in->meanwhile;
	double made = making(m);

	sp_metrics_ratio(e, SP_METRIC_decode_work_share, decoding(m), made);
	sp_metrics_ratio(e, SP_METRIC_read_work_share, reading(m), made);
	sp_metrics_ratio(e, SP_METRIC_receive_work_share, sum_of(m, SP_WORK_KIND_RECEIVE), made);
	sp_metrics_ratio(e, SP_METRIC_wait_work_share,
			 (double)m->ns[SP_WORK_fetch_wait] * coreless(in), made);
	sp_metrics_ratio(e, SP_METRIC_transform_work_share, (double)m->ns[SP_WORK_transform], made);
	sp_metrics_ratio(e, SP_METRIC_decompress_work_share, (double)m->ns[SP_WORK_decompress],
			 made);
	sp_metrics_ratio(e, SP_METRIC_collate_work_share, (double)m->ns[SP_WORK_collate], made);
}

static void set_decoding(struct sp_metrics *e, const struct input *in,
			 const struct sp_report *report)
{
	const struct sp_work_sums *w = &in->whole;
	double decoded = decoding(w), read = reading(w);
	const struct sp_sums *jpeg = &report->totals.stages[SP_STAGE_jpeg_decode];

	sp_metrics_ratio(e, SP_METRIC_jpeg_decode_share, (double)w->ns[SP_WORK_jpeg_decode],
			 decoded);
	sp_metrics_ratio(e, SP_METRIC_png_decode_share, (double)w->ns[SP_WORK_png_decode], decoded);
	sp_metrics_ratio(e, SP_METRIC_video_decode_share, (double)w->ns[SP_WORK_video_decode],
			 decoded);
	sp_metrics_ratio(e, SP_METRIC_hdf5_read_share,
			 (double)(w->ns[SP_WORK_hdf5] + w->hdf5_file_ns), read);
	sp_metrics_ratio(e, SP_METRIC_mapped_read_share, (double)w->ns[SP_WORK_mapped_read], read);
	sp_metrics_ratio(e, SP_METRIC_image_pixels, (double)report->totals.pixels,
			 (double)(jpeg->calls - jpeg->aborted));
}

/*
 * One of the workers that wait for each other's locks runs at any time. If they wait for longer
 * than that allows, they wait for something else.
 */
static bool holds_up_each_other(const struct input *in, double locked, double made)
{
	return in->at_once > 1 &&
	       locked <= LOCKS_ERROR * (made - locked) * (double)(in->at_once - 1);
}

static void set_locked(struct sp_metrics *e, const struct input *in, double made)
{
	double locked = (double)in->fetches.locked_ns - in->threads_ns;

	sp_metrics_ratio(e, SP_METRIC_fetch_threads_share, in->threads_ns, made);
	sp_metrics_ratio(e, SP_METRIC_fetch_locked_share, locked, made);
	sp_metrics_ratio(e,
			 holds_up_each_other(in, locked, made) ? SP_METRIC_fetch_contended_share
							       : SP_METRIC_fetch_awaited_share,
			 locked, made);
}

static void set_shares(struct sp_metrics *e, const struct input *in)
{
	const struct sp_work_sums *w = &in->whole;
	double made = making(w);

	if (waits_for_making(e)) {
		set_locked(e, in, made);
		sp_metrics_ratio(e, SP_METRIC_fetch_received_share, sum_of(w, SP_WORK_KIND_RECEIVE),
				 made);
	}
	sp_metrics_ratio(e, SP_METRIC_decode_share, decoding(w), made);
	sp_metrics_ratio(e, SP_METRIC_collate_share, (double)w->ns[SP_WORK_collate], made);
	sp_metrics_ratio(e, SP_METRIC_read_share, reading(w), made);
}

/* A file's first read may fetch all of it, so those after it take no time. */
static double reads_that_count(const struct sp_fetch_files *f)
{
	return (double)(2 * f->slow_read_ns >= f->read_ns ? f->slow_reads : f->reads);
}

/* Only fetches count, because a process also opens and reads other files before its first batch. */
static void set_files(struct sp_metrics *e, const struct input *in)
{
	const struct sp_fetch_files *f = &in->fetches.files;
	double batches = (double)in->fetches.batches;

	sp_metrics_ratio(e, SP_METRIC_read_bytes_mean, (double)f->read_bytes, (double)f->reads);
	sp_metrics_ratio(e, SP_METRIC_read_bytes_per_s, (double)f->read_bytes * 1e9,
			 (double)f->read_ns);
	sp_metrics_ratio(e, SP_METRIC_opens_per_batch, (double)f->opens, batches);
	sp_metrics_ratio(e, SP_METRIC_reads_per_open, reads_that_count(f), (double)f->opens);
	if (!f->hdf5_opens)
		return;
	sp_metrics_ratio(e, SP_METRIC_hdf5_opens_per_batch, (double)f->hdf5_opens, batches);
	sp_metrics_ratio(e, SP_METRIC_hdf5_open_share, (double)f->hdf5_open_ns, making(&in->whole));
}

/* The part of a batch's work that needs a core; without the kernel's counts, all work except
 * reading. */
static double batch_cpu_ns(const struct sp_metrics *e, double batch_ns)
{
	if (e->of[SP_METRIC_batch_cpu_ns].is_known)
		return sp_metrics_value(e, SP_METRIC_batch_cpu_ns);
	return batch_ns * (1 - sp_metrics_value(e, SP_METRIC_read_share));
}

/* The shortest time between batches that the cores allow, with any number of workers; 0:
 * unknown. */
static double cores_batch_ns(const struct sp_metrics *e, double batch_ns, bool on_trainer)
{
	double cores = sp_metrics_value(e, SP_METRIC_cores);
	double cpu_ns = sp_metrics_value(e, SP_METRIC_trainer_cpu_ns) / sp_batches_a_step(e);

	if (cores <= 0)
		return 0;
	if (!on_trainer) /* what other programs took of the cores, they take from more workers, too
			  */
		cpu_ns += batch_cpu_ns(e, batch_ns) + sp_metrics_value(e, SP_METRIC_batch_ready_ns);
	return cpu_ns / cores;
}

static double workers_for(double batch_ns, double period_ns)
{
	return ceil(batch_ns / period_ns * (1 - ROUNDING));
}

/* A collate_fn of the program's own may copy as much as PyTorch's, or compute. */
static void set_own_collate(struct sp_metrics *e, const struct input *in)
{
	double own_ns = (double)in->whole.ns[SP_WORK_collate] - (double)in->fetches.stacked_ns;
	bool is_much = in->on_trainer && own_ns >= OWN_COLLATE_LEAST * making(&in->whole);

	sp_metrics_ratio(e, SP_METRIC_own_collate_ns, own_ns > 0 ? own_ns : 0,
			 (double)in->fetches.batches);
	sp_metrics_set_text(e, SP_METRIC_own_collate,
			    is_much ? _(" The collate_fn is the program's own: if it copies "
					"megabytes, workers may make it slower.")
				    : "");
}

/*
 * The number of workers that make batches as fast as a trainer without waits takes them, but no
 * more than the cores allow. Blocked time (storage, sleep) needs no cores.
 */
static void set_wanted(struct sp_metrics *e, const struct input *in)
{
	double work = making(&in->whole);
	double a_step = sp_batches_a_step(e);
	double busy_ns = (sp_metrics_value(e, SP_METRIC_step_mean_ns) -
			  sp_metrics_value(e, SP_METRIC_wait_mean_ns)) /
				 a_step +
			 sp_metrics_value(e, SP_METRIC_handover_ns) +
			 sp_metrics_value(e, SP_METRIC_sampler_ns);
	double cores = sp_metrics_value(e, SP_METRIC_cores), batch_ns, enough, borne, wanted;

	if (!in->fetches.batches || busy_ns <= 0 || work <= 0)
		return;
	batch_ns = work / (double)in->fetches.batches;
	enough = floor(batch_ns / busy_ns) + 1;
	borne = workers_for(batch_ns, fmax(busy_ns, cores_batch_ns(e, batch_ns, in->on_trainer)));
	wanted = fmin(enough, borne > 1 ? borne : 1);
	if (cores > 0)
		wanted = fmin(wanted, cores * WORKERS_A_CORE_MOST);
	if (!in->on_trainer && batch_ns < sp_metrics_value(e, SP_METRIC_handover_ns))
		wanted = 0; /* the training thread makes a batch sooner than it receives one */
	sp_metrics_set(e, SP_METRIC_batch_work_ns, batch_ns);
	sp_metrics_ratio(e, SP_METRIC_stack_ns, (double)in->fetches.stacked_ns,
			 (double)in->fetches.batches);
	sp_metrics_set(e, SP_METRIC_workers_wanted, wanted);
	/* More workers do not help a trainer that waits for something else. */
	if (cores <= 0 || in->on_trainer ||
	    sp_metrics_value(e, SP_METRIC_worker_idle_share) >= SP_WORKERS_IDLE ||
	    sp_metrics_value(e, SP_METRIC_fetch_locked_share) >= SP_FETCHES_LOCKED)
		return;
	sp_metrics_set(e, SP_METRIC_spare_workers, wanted - in->at_once);
	/* Cores that a worker's own threads share: more workers may share them, too. */
	if (wanted <= in->at_once &&
	    sp_metrics_value(e, SP_METRIC_fetch_threads_share) < SP_FETCHES_LOCKED)
		sp_metrics_set(e, SP_METRIC_missing_workers, enough - in->at_once);
}

/* Uses rusage of fetches where it was recorded, else rusage of the workers' threads. */
static void set_fetch_use(struct sp_metrics *e, const struct input *in)
{
	const struct sp_call_rusage_sums *u = &in->fetches.usage;

	sp_metrics_ratio(e, SP_METRIC_batch_cpu_ns, (double)u->cpu_ns + in->beside.cpu_ns,
			 (double)u->calls);
	if (waits_for_making(e))
		sp_metrics_ratio(e, SP_METRIC_fetch_blocked_share, (double)u->blocked_ns,
				 (double)u->wall_ns);
	sp_metrics_ratio(e, SP_METRIC_batch_ready_ns, (double)u->preempted_ns + in->beside.ready_ns,
			 (double)u->calls);
}

static void set_batches(struct sp_metrics *e, const struct sp_report *report)
{
	uint64_t batches = 0, steps = 0;

	for (uint32_t t = 0; t < report->training.count; t++) {
		if (!report->training.trainers[t].steps.is_fed)
			continue;
		batches += report->training.trainers[t].steps.wait_count;
		steps += report->training.trainers[t].steps.count;
	}
	sp_metrics_ratio(e, SP_METRIC_batches_per_step, (double)batches, (double)steps);
}

/* The number of workers, divided by that of those that are not waited for. */
static double others_of(const struct input *in)
{
	return in->at_once > 1 ? in->at_once / (in->at_once - 1.0) : 1;
}

static void set_idle(struct sp_metrics *e, const struct input *in)
{
	const struct sp_work_sums *m = &in->meanwhile;
	double made = making(m);
	double idle = (double)m->ns[SP_WORK_idle];

	if (in->on_trainer)
		return;
	sp_metrics_ratio(e, SP_METRIC_worker_idle_share, idle, made + idle);
	/* One of several may make the batch that is waited for, and not be idle. */
	sp_metrics_ratio(e, SP_METRIC_others_idle_share, fmin(idle * others_of(in), made + idle),
			 made + idle);
}

/*
 * The share of the trainer's waits in which a worker's sending thread could have run. A fetch that
 * computes in Python holds the interpreter's lock; in this case the fetch is slow and not the
 * sending.
 */
static double answering_share(const struct sp_metrics *e, const struct input *in)
{
	const struct sp_call_rusage_sums *u = &in->fetches.usage;
	double fetching = 1 - sp_metrics_value(e, SP_METRIC_worker_idle_share);
	double running =
		u->wall_ns ? (double)(u->cpu_ns + u->preempted_ns) / (double)u->wall_ns : 1;

	return 1 - fetching * running;
}

/* Shared memory is given back by calls of munmap, with some work around each. */
static double release_ns(const struct sp_report *report)
{
	double ns = 0;

	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t stream = report->training.trainers[t].stream;

		ns += (double)report->totals.streams[stream].stages[SP_STAGE_munmap].total_ns;
	}
	return RELEASE_ERROR * ns;
}

static void set_release(struct sp_metrics *e, const struct sp_report *report)
{
	double ns = release_ns(report) / (double)report->workers.receive.all_batches;
	double most = sp_metrics_value(e, SP_METRIC_loop_ns) / sp_batches_a_step(e);

	if (report->workers.receive.all_batches && e->of[SP_METRIC_loop_ns].is_known)
		sp_metrics_set(e, SP_METRIC_release_ns, fmin(ns, most));
}

static void set_handover(struct sp_metrics *e, const struct input *in,
			 const struct sp_batch_receive *h)
{
	if (in->on_trainer || !h->batches || h->ns < 0)
		return;
	sp_metrics_set(e, SP_METRIC_handover_ns, (double)h->ns / (double)h->batches);
	sp_metrics_set(e, SP_METRIC_handover_bytes, (double)h->bytes / (double)h->batches);
	sp_metrics_set(e, SP_METRIC_answering_share, answering_share(e, in));
	if (sp_metrics_value(e, SP_METRIC_answering_share) >= SP_ANSWERING_LEAST)
		sp_metrics_ratio(e, SP_METRIC_handover_wait_share, (double)h->ns,
				 (double)h->wait_ns);
}

static void set_sampler(struct sp_metrics *e, const struct sp_batch_receive *h)
{
	if (!h->sampler_ns)
		return;
	sp_metrics_ratio(e, SP_METRIC_sampler_ns, (double)h->sampler_ns, (double)h->all_batches);
	sp_metrics_ratio(e, SP_METRIC_sampler_wait_share, (double)h->sampler_ns,
			 (double)h->all_wait_ns);
}

/*
 * Workers that an epoch starts again hold up its first batch, which has to be made after that. The
 * first batch's own making is no part of the start. A run without workers shows no start.
 */
static void set_starts(struct sp_metrics *e, const struct input *in,
		       const struct sp_training *training)
{
	double lives = sp_metrics_value(e, SP_METRIC_worker_lives);
	double restarts = in->at_once ? lives - 1 : sp_metrics_value(e, SP_METRIC_epochs) - 1;
	double more = sp_metrics_value(e, SP_METRIC_first_batch_ns) +
		      sp_metrics_value(e, SP_METRIC_wait_mean_ns) -
		      sp_metrics_value(e, SP_METRIC_batch_work_ns);

	if (restarts <= 0 || !e->of[SP_METRIC_first_batch_ns].is_known)
		return;
	sp_metrics_ratio(e, SP_METRIC_restarts_per_step, restarts * training->count,
			 sp_metrics_value(e, SP_METRIC_steps));
	if (in->at_once)
		sp_metrics_set(e, SP_METRIC_worker_start_ns, fmax(more, 0) / in->at_once);
}

void sp_metrics_input(struct sp_metrics *e, const struct sp_report *report)
{
	struct input in = {.fetches.batches = 0};

	count_workers(&in, report);
	if (!report->workers.count)
		return;
	sp_metrics_set(e, SP_METRIC_workers, in.at_once);
	if (in.at_once)
		sp_metrics_ratio(e, SP_METRIC_worker_lives, in.lives,
				 in.at_once * report->training.count);
	set_batches(e, report);
	set_idle(e, &in);
	set_handover(e, &in, &report->workers.receive);
	if (in.at_once)
		set_release(e, report);
	set_sampler(e, &report->workers.receive);
	if (waits_for_making(e))
		set_work(e, &in);
	set_shares(e, &in);
	set_decoding(e, &in, report);
	set_own_collate(e, &in);
	set_files(e, &in);
	set_fetch_use(e, &in);
	set_wanted(e, &in);
	set_starts(e, &in, &report->training);
}
