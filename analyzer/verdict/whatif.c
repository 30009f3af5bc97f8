/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/whatif.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/text/translate.h"
#include "analyzer/verdict/terms.h"
#include "analyzer/verdict/verdict_text.h"

#define GAIN_SURE 0.05 /* by the high end of a range: worth a line of its own */
/* The time of a batch from a worker to the trainer where no worker shows it: two tensors take
 * 0.2 ms where workers are busy, and 1 ms where both have to be woken. */
#define HANDOVER_MOST_NS 1e6

/* Tensors that a worker stacks lie in new memory, whose pages come one by one: 16 MB took 2.3 ms in
 * a process that uses its memory again and 13 to 18 ms in a worker, and the trainer 3 ms to give
 * them back. */
#define SHARING_MOST 7.0 /* of the stacking without workers */
#define GIVING_BACK_MOST 1.5

/* The training thread and its workers interrupt each other where they are more than the cores, and
 * at times a core is free and no batch is there. Two cores took 1.4 times as long for two workers
 * and a model as one thread on each would have. A factor of the time on cores. */
#define CROWDED_MOST 1.25

#define CACHES_MOST 0.2 /* of the rest of a step's time on a core: with caches of its own */

/* A thread that has waited goes on with cold caches, and launches to a device that sleeps: 65 to
 * 130 µs after waits of 1.4 ms, on two cores of a virtual machine. Short waits cool nothing down.
 */
#define WAKE_MOST_NS 150e3
#define WAKE_SHARE_MOST 0.15 /* of the waits */

#define SAMPLE_ERROR 0.98    /* half the width of a share's interval (95%) of one sample */
#define VALIDATION_MOST 0.05 /* of the training time: its batches are sampled, too */

/* The start of a worker, where none shows it: a fork of a process that has loaded PyTorch. */
#define START_MOST_NS 30e6

static const struct {
	const char *name, *title, *change, *missing;
} table[SP_WHAT_IFS] = {
#define SP_WHAT_IF(id, title, change, when, makes, missing) {#id, title, change, missing},
#include "analyzer/verdict/whatif.def"
};

const char *sp_what_if_name(enum sp_what_if_id id)
{
	return table[id].name;
}

const char *sp_what_if_missing(const struct sp_metrics *e, enum sp_what_if_id id)
{
	if (e->is_from_digest)
		return _("this needs events, and a digest has none");
	return _(table[id].missing);
}

void sp_what_if_change(enum sp_what_if_id id, const struct sp_what_if *w, char *ret,
		       size_t ret_bytes)
{
	if (id == SP_WHAT_IF_workers && w->is_known)
		snprintf(ret, ret_bytes, "num_workers=%u", w->workers);
	else
		snprintf(ret, ret_bytes, "%s", _(table[id].change));
}

void sp_what_if_title(const struct sp_metrics *e, enum sp_what_if_id id, const struct sp_what_if *w,
		      char ret[SP_WHAT_IF_TEXT_BYTES])
{
	if (id == SP_WHAT_IF_workers && w->is_known)
		snprintf(ret, SP_WHAT_IF_TEXT_BYTES, _("num_workers were %u"), w->workers);
	else
		sp_template_fill(e, _(table[id].title), ret, SP_WHAT_IF_TEXT_BYTES);
}

#define STEP V(step_mean_ns)
#define RANGE(low_ns, high_ns) range(e, low_ns, high_ns)

static struct sp_what_if range(const struct sp_metrics *e, double low_ns, double high_ns)
{
	return (struct sp_what_if){
		.is_known = true,
		.now_ns = STEP,
		.low_ns = fmin(low_ns, high_ns),
		.high_ns = fmax(low_ns, high_ns),
		.usual_ns = fmax(low_ns, high_ns),
	};
}

/* The part of the mean wait for the loader in which the device was idle; all of it where that is
 * not known. */
static double lost_ns(const struct sp_metrics *e)
{
	double wait = V(wait_mean_ns), share = V(loader_wait_share);

	return share > 0 ? fmin(wait * V(lost_wait_share) / share, wait) : wait;
}

/* The time of a step without its waits for the loader. Behind a wait that the device's work hides
 * stands that work, which no change of the input takes away. */
static double busy_ns(const struct sp_metrics *e)
{
	return fmax(STEP - lost_ns(e), 0);
}

/* The work of a device whose queue is not known may hide a wait, and then its end saves nothing. */
static bool may_hide(const struct sp_metrics *e)
{
	return e->has_device && !e->is_queue_known;
}

/*
 * The time of a step without waits for the loader, if the workers had never taken a core that the
 * training thread wanted. The training thread waited for a core while it received batches, too; so
 * at most the mean share of its other running time is subtracted.
 */
static double alone_ns(const struct sp_metrics *e)
{
	double waited = V(contention_share) * STEP;

	if (V(workers) < 1 || lost_ns(e) < V(wait_mean_ns))
		return busy_ns(e);
	waited = fmin(waited, V(coreless_share) * busy_ns(e));
	return busy_ns(e) - fmin(waited, sp_batches_a_step(e) * V(batch_cpu_ns));
}

/*
 * A training thread that makes batches finds its caches full of them. Without that the rest of a
 * step takes less time on the core, by no more than making the batches takes.
 */
double sp_what_if_cache_share(const struct sp_metrics *e)
{
	double step_ns = V(step_mean_ns), work_ns = V(batch_work_ns), cpu_ns = V(batch_cpu_ns);
	double own_ns = V(trainer_cpu_ns) - sp_batches_a_step(e) * cpu_ns;
	double rest = 1 - V(lost_wait_share);

	if (V(workers) > 0 || step_ns <= 0 || work_ns <= 0 || own_ns <= 0)
		return 0;
	rest = own_ns < rest * step_ns ? own_ns / step_ns : rest;
	rest *= CACHES_MOST * fmin(cpu_ns / work_ns, 1);
	return fmax(fmin(rest, V(lost_wait_share)), 0);
}

static double cache_ns(const struct sp_metrics *e)
{
	return sp_what_if_cache_share(e) * STEP;
}

/* At least that much of the decoding was visibly waited for. */
static double decode_lost_ns(const struct sp_metrics *e)
{
	return may_hide(e) ? 0 : lost_ns(e) * V(decode_work_share);
}

/* Samples are of all batches. */
#define ONE_LOADER (!KNOWN(slow_loader_share) && V(validation_share) < VALIDATION_MOST)

/* The wait for the work of the loader, and not for the sampler or the transfer from a worker. */
static double made_ns(const struct sp_metrics *e)
{
	double other = V(sampler_wait_share) + V(worker_idle_share) + V(handover_wait_share);

	return may_hide(e) ? 0 : lost_ns(e) * (V(workers) > 0 ? fmax(1 - other, 0) : 1);
}

/* Workers that work less make batches more often. Without them the wait is the work. */
static struct sp_what_if without_line(const struct sp_metrics *e)
{
	double share = V(input_line_share), error = SAMPLE_ERROR / sqrt(V(input_line_samples));
	double most = fmin(share + error, 1), least = fmax(share - error, 0);
	double least_ns = V(workers) > 0 ? fmax(alone_ns(e), STEP * (1 - most))
					 : STEP - lost_ns(e) * most - cache_ns(e);

	return RANGE(least_ns, STEP - made_ns(e) * least);
}

/*
 * For a step's batches: worker time, and the part that needs a core; and the step's other use of
 * cores. The training thread pays the same for receiving a batch with any number of workers, but a
 * wait hides it.
 */
struct load {
	double batch_ns, cpu_ns, trainer_ns;
	double busy_ns, handover_ns, sampler_ns; /* time of the training thread */
	bool is_uneven;	  /* batches and steps differ, and neither waits for the other exactly */
	double shared_ns; /* of all that: for memory that processes share,
			     so none without workers */
};

/* The trainer's own use of the cores, without the making of batches in a loader without workers. */
static double own_cpu_ns(const struct sp_metrics *e, double batch_cpu_ns)
{
	double ns = V(trainer_cpu_ns);

	return V(workers) < 1 ? fmax(ns - batch_cpu_ns, 0) : ns;
}

/* At most: a worker collates into shared memory, and the training thread gives that back. */
static double shared_ns(const struct sp_metrics *e)
{
	if (V(workers) < 1)
		return 0;
	return V(collate_share) * V(batch_work_ns) + V(release_ns);
}

/* No thread waits for a core, but all need one. */
static struct load least_load(const struct sp_metrics *e)
{
	double ready = V(batch_ready_ns), n = sp_batches_a_step(e);

	return (struct load){
		.batch_ns = n * fmax(V(batch_work_ns) - ready, 0),
		.cpu_ns = n * V(batch_cpu_ns),
		.trainer_ns = own_cpu_ns(e, n * V(batch_cpu_ns)),
		.busy_ns = alone_ns(e),
		.handover_ns =
			n * V(handover_ns) * (KNOWN(answering_share) ? V(answering_share) : 1),
		.sampler_ns = n * V(sampler_ns),
		.shared_ns = n * shared_ns(e),
	};
}

/*
 * The training process may make a batch with several threads, and a worker has one. The time of its
 * other threads is the process's processor time beyond the step.
 */
static double other_threads_ns(const struct sp_metrics *e)
{
	return fmax(V(trainer_cpu_ns) - STEP, 0);
}

/*
 * The state of the run; without the kernel's counts, all work except reading needs a core. A worker
 * that waited for a core gets no more of it when there are more workers. A run without workers says
 * nothing of a transfer, which takes time of a core, too, and wakes some threads that wait for one
 * as the training thread did.
 */
static struct load most_load(const struct sp_metrics *e, double stack_ns)
{
	double n = sp_batches_a_step(e), work = n * V(batch_work_ns), busy = busy_ns(e);
	double handover = V(handover_ns), stack = n * stack_ns;
	bool is_alone = V(workers) < 1;
	double cpu = KNOWN(batch_cpu_ns) ? n * V(batch_cpu_ns) : work * (1 - V(read_share));

	if (is_alone)
		handover = HANDOVER_MOST_NS + V(contention_share) * STEP;
	return (struct load){
		.is_uneven = true,
		.batch_ns =
			work + (is_alone ? other_threads_ns(e) + (SHARING_MOST - 1) * stack : 0),
		.cpu_ns = cpu + (is_alone ? n * HANDOVER_MOST_NS + (SHARING_MOST - 1) * stack
					  : n * V(batch_ready_ns)),
		.trainer_ns = KNOWN(trainer_cpu_ns) ? own_cpu_ns(e, n * V(batch_cpu_ns)) : busy,
		.busy_ns = busy,
		.handover_ns = n * handover + (is_alone ? GIVING_BACK_MOST * stack : 0),
		.sampler_ns = n * V(sampler_ns),
	};
}

/* Times that differ from step to step wait for each other where they are nearly as long: measured
 * for two cores that are nearly full, and for batches and steps of the same length. */
static double longer_of(const struct load *l, double a, double b)
{
	return l->is_uneven ? cbrt(a * a * a + b * b * b) : fmax(a, b);
}

/* Cores for each trainer of the host: all of them do the same. */
static double own_cores(const struct sp_metrics *e)
{
	return V(cores) / fmax(V(host_trainers), 1);
}

static double step_ns(const struct load *l, double workers, double cores)
{
	double ns = l->busy_ns + l->handover_ns + l->sampler_ns;
	double on_cores = l->cpu_ns + l->trainer_ns;

	if (workers < 1)
		return fmax(l->busy_ns + l->sampler_ns + l->batch_ns - l->shared_ns, 0);
	ns = longer_of(l, ns, l->batch_ns / workers);
	if (l->is_uneven && workers + 1 > cores)
		on_cores *= CROWDED_MOST;
	return cores > 0 ? longer_of(l, ns, on_cores / cores) : ns;
}

/*
 * The starts of more workers, at most, for each step. Workers start one after another on the
 * training thread.
 */
static double starts_ns(const struct sp_metrics *e, double more)
{
	double start_ns = KNOWN(worker_start_ns) ? V(worker_start_ns) : START_MOST_NS;

	return more > 0 ? more * start_ns * V(restarts_per_step) : 0;
}

/* Workers that wait for each other may gain nothing. More workers may gain nothing where waits may
 * hide. */
static bool may_gain_nothing(const struct sp_metrics *e, uint32_t workers)
{
	double before = V(workers);

	return (workers < 1 && before >= 1 && may_hide(e)) ||
	       (workers > before && (may_hide(e) || V(fetch_locked_share) >= SP_FETCHES_LOCKED));
}

/* The error of the same computation for the real number of workers widens the range. */
static double most_with(const struct sp_metrics *e, uint32_t workers, double stack_ns)
{
	struct load most = most_load(e, stack_ns);
	double now = STEP, cores = own_cores(e);
	double before = step_ns(&most, V(workers), cores);
	double ns = step_ns(&most, workers, cores) * fmax(1, before > 0 ? now / before : 1) +
		    starts_ns(e, workers - V(workers));

	return may_gain_nothing(e, workers) ? fmax(ns, now) : ns;
}

/*
 * The slowest of the training thread, the workers and the cores. A collate_fn of the program's own
 * may copy samples into large tensors, as PyTorch's does, or compute.
 */
static struct sp_what_if with_workers(const struct sp_metrics *e, uint32_t workers)
{
	struct load least = least_load(e);
	double now = STEP, cores = own_cores(e), stack = V(stack_ns);
	double before = step_ns(&least, V(workers), cores);
	double low = step_ns(&least, workers, cores) * fmin(1, before > 0 ? now / before : 1);
	struct sp_what_if w;

	w = RANGE(low, most_with(e, workers, stack + V(own_collate_ns)));
	w.usual_ns = fmax(low, most_with(e, workers, stack));
	w.workers = workers;
	return w;
}

/*
 * With batches far ahead a slow one delays nobody: at best a step takes as long as the slowest of
 * the training thread, the workers and the cores.
 */
static double far_ahead_ns(const struct sp_metrics *e)
{
	struct load least = least_load(e);

	return step_ns(&least, V(workers), own_cores(e));
}

/*
 * For as many samples as a step has now, half of a step with twice as many. Work on a batch goes
 * with its samples; at best all other work is done once a step, however many samples it has.
 */
static double half_ns(const struct sp_metrics *e)
{
	struct load least = least_load(e);

	least.busy_ns /= 2;
	least.handover_ns /= 2;
	least.trainer_ns /= 2;
	return step_ns(&least, V(workers), own_cores(e));
}

/* A steady step's part of a cost; of the training time where steady steps do not show it. */
static double steady_ns(const struct sp_metrics *e, enum sp_metric_id mean_ns,
			enum sp_metric_id share)
{
	double ns = e->of[mean_ns].is_known ? sp_metrics_value(e, mean_ns)
					    : STEP * sp_metrics_value(e, share);

	return fmin(ns, STEP);
}

static double copy_ns(const struct sp_metrics *e)
{
	return steady_ns(e, SP_METRIC_copy_mean_ns, SP_METRIC_copy_share);
}

/* The host takes at least its own work, and the device at least the time for which the host
 * waited. Waiting adds to the host's own work, beside the wait. */
static struct sp_what_if no_syncs(const struct sp_metrics *e)
{
	double sync = steady_ns(e, SP_METRIC_sync_mean_ns, SP_METRIC_sync_share);
	double cost = V(sync_share) > 0 ? sync * V(sync_cost_share) / V(sync_share) : 0;
	double waits = V(syncs_per_step) + V(blocking_copies_per_step);
	double wake = fmin(waits * WAKE_MOST_NS, sync * WAKE_SHARE_MOST);

	return RANGE(fmax(STEP - sync - wake, sync), STEP - cost);
}

/* The work on the batches of a loader was seen, and the waits for them. */
#define HAS_BATCHES (KNOWN(workers_wanted) && KNOWN(wait_mean_ns))

struct sp_what_if sp_what_if_make(const struct sp_metrics *e, enum sp_what_if_id id,
				  uint32_t workers)
{
	struct sp_what_if unknown = {.is_known = false};

	if (workers == SP_WORKERS_UNASKED)
		workers = (uint32_t)V(workers_wanted);
	if (!KNOWN(step_mean_ns))
		return unknown;
	switch (id) {
#define SP_WHAT_IF(id, title, change, when, makes, missing)                                        \
	case SP_WHAT_IF_##id:                                                                      \
		return (when) ? makes : unknown;
#include "analyzer/verdict/whatif.def"
	case SP_WHAT_IFS:
		break;
	}
	return unknown;
}

enum sp_what_if_id sp_what_if_best(const struct sp_metrics *e)
{
	enum sp_what_if_id best = SP_WHAT_IFS;
	double most = GAIN_SURE;

	for (int i = 0; i < SP_WHAT_IFS; i++) {
		struct sp_what_if w = sp_what_if_make(e, (enum sp_what_if_id)i, SP_WORKERS_UNASKED);
		double gain = w.now_ns > 0 ? 1 - w.high_ns / w.now_ns : 0;

		if (w.is_known && gain >= most) {
			best = (enum sp_what_if_id)i;
			most = gain;
		}
	}
	return best;
}
