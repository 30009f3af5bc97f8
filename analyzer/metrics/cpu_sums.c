/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/cpu_sums.h"

#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/base/intervals.h"
#include "analyzer/base/order.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/report/report.h"

/* The rusage of a thread and its process, and the time that it covers. */
struct rusage_span {
	struct sp_rusage_metadata used;
	int64_t begin_ns, end_ns;
	uint32_t host;
};

static uint64_t difference(uint64_t before, uint64_t after)
{
	if (before == UINT64_MAX || after == UINT64_MAX)
		return UINT64_MAX;
	return sp_rest_ns(after, before);
}

/* Covers the steps from the first to the last with rusage: a start is not training. */
static bool rusage_of_steps(struct rusage_span *ret, const struct sp_report *report,
			    uint32_t stream)
{
	const struct sp_thread_usage *t = &report->run.metadata.usages[stream];
	const struct sp_rusage_metadata *first = &t->first.usage, *last = &t->last.usage;
	const struct sp_clock *clock = &sp_run_host(&report->run, stream)->clock;

	if (!t->first.at || t->last.at <= t->first.at)
		return false;
	ret->used = *last; /* process_threads is a number, not a sum over time */
	ret->used.cpu_ns = difference(first->cpu_ns, last->cpu_ns);
	ret->used.ready_ns = difference(first->ready_ns, last->ready_ns);
	ret->used.process_cpu_ns = difference(first->process_cpu_ns, last->process_cpu_ns);
	ret->used.process_ready_ns = difference(first->process_ready_ns, last->process_ready_ns);
	ret->begin_ns = sp_clock_realtime_ns(clock, t->first.at);
	ret->end_ns = sp_clock_realtime_ns(clock, t->last.at);
	return true;
}

static bool rusage_at_end(struct rusage_span *ret, const struct sp_report *report, uint32_t stream)
{
	const struct sp_process_image *image = sp_run_image(&report->run, stream);

	sp_stream_life(&report->run, &report->totals, stream, &ret->begin_ns, &ret->end_ns);
	if (image->start_ns)
		ret->begin_ns = (int64_t)image->start_ns;
	ret->used = report->run.metadata.usages[stream].whole;
	return report->run.metadata.usages[stream].is_known;
}

static bool read_rusage(struct rusage_span *ret, const struct sp_report *report, uint32_t stream,
			bool trains)
{
	return (trains && rusage_of_steps(ret, report, stream)) ||
	       rusage_at_end(ret, report, stream);
}

static bool rusage_of(struct rusage_span *ret, const struct sp_report *report, uint32_t stream,
		      bool trains)
{
	return read_rusage(ret, report, stream, trains) && ret->used.ready_ns != UINT64_MAX &&
	       ret->used.process_ready_ns != UINT64_MAX && ret->end_ns > ret->begin_ns;
}

static double above(uint64_t all, uint64_t own)
{
	return all != UINT64_MAX && own != UINT64_MAX && all > own ? (double)(all - own) : 0;
}

struct sp_beside sp_metrics_beside(const struct sp_report *report, uint32_t stream, bool is_trainer)
{
	struct rusage_span span;
	struct sp_beside beside = {0};

	if (!read_rusage(&span, report, stream, is_trainer))
		return beside;
	beside.cpu_ns = above(span.used.process_cpu_ns, span.used.cpu_ns);
	beside.ready_ns = above(span.used.process_ready_ns, span.used.ready_ns);
	return beside;
}

static double life_of(const struct rusage_span *span)
{
	return (double)(span->end_ns - span->begin_ns);
}

/* The share of its life that lies between two instants. */
static double share_between(const struct rusage_span *span, int64_t begin_ns, int64_t end_ns)
{
	int64_t from = begin_ns > span->begin_ns ? begin_ns : span->begin_ns;
	int64_t to = end_ns < span->end_ns ? end_ns : span->end_ns;

	return to > from ? (double)(to - from) / life_of(span) : 0;
}

static void add_process(struct sp_cpu_use *use, const struct rusage_span *span, double share,
			uint64_t batches)
{
	const struct sp_rusage_metadata *u = &span->used;
	double life_ns = life_of(span);
	double demand_ns = (double)u->process_cpu_ns + (double)u->process_ready_ns;

	use->cpu_ns += (double)u->cpu_ns;
	use->ready_ns += (double)u->ready_ns;
	use->life_ns += life_ns;
	use->process_cpu_ns += (double)u->process_cpu_ns;
	use->used_ns += (double)u->process_cpu_ns * share;
	use->demand_ns += demand_ns * share;
	use->threads = fmax(use->threads, (double)u->process_threads);
	use->batches += (double)batches;
}

/* The use of a whole life says nothing of steps that began long after the start. */
static void add_trainers(struct sp_cpu_sums *cpu, const struct sp_report *report)
{
	struct rusage_span span;

	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t stream = report->training.trainers[t].stream;

		if (!rusage_of(&span, report, stream, true))
			continue;
		add_process(&cpu->trainers, &span, 1, 0);
		if (rusage_of_steps(&span, report, stream))
			add_process(&cpu->stepped, &span, 1, 0);
	}
}

SP_ORDER(by_host_and_begin, struct rusage_span, SP_UP(host) ?: SP_UP(begin_ns))

/* When at least one trainer trained: trainers of one run may come one after another. */
struct trained {
	struct rusage_span *spans; /* by host and begin; those of one host do not overlap */
	uint32_t count;
	double ns; /* 0: not known */
};

static void join_spans(struct trained *t, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct rusage_span *last = t->count ? &t->spans[t->count - 1] : NULL;

		if (!last || last->host != t->spans[i].host || last->end_ns < t->spans[i].begin_ns)
			t->spans[t->count++] = t->spans[i];
		else if (last->end_ns < t->spans[i].end_ns)
			last->end_ns = t->spans[i].end_ns;
	}
	for (uint32_t i = 0; i < t->count; i++)
		t->ns += life_of(&t->spans[i]);
}

/* The caller frees the spans. */
static struct trained find_trained(const struct sp_report *report)
{
	struct trained t = {.spans = malloc((report->training.count + 1) * sizeof(*t.spans))};
	uint32_t count = 0;

	for (uint32_t i = 0; t.spans && i < report->training.count; i++) {
		uint32_t stream = report->training.trainers[i].stream;

		if (rusage_of(&t.spans[count], report, stream, true))
			t.spans[count++].host = sp_run_image(&report->run, stream)->host;
	}
	if (count)
		qsort(t.spans, count, sizeof(*t.spans), by_host_and_begin);
	join_spans(&t, count);
	return t;
}

#define BUSY_LEAST 0.2 /* of the time of the steps, or of the process's time on cores */
#define BUSY_TIME 0.05 /* of the time of the steps at least: other programs may lengthen them */
#define BUSY_EVENTS 10 /* fewer are of a thread that waits for its end */

/* A thread of autograd computes for the trainer, which waits for it in backward: it makes no
 * batches. */
static bool records_beside(const struct sp_report *report, uint32_t trainer,
			   const struct rusage_span *steps)
{
	const struct sp_run *run = &report->run;

	for (uint32_t i = 0; i < run->index.stream_count; i++) {
		int64_t begin_ns, end_ns;

		if (run->index.streams[i]->image != run->index.streams[trainer]->image ||
		    sp_trainer_is_same_thread(run, i, trainer) ||
		    report->totals.streams[i].events < BUSY_EVENTS ||
		    report->totals.streams[i].nodes)
			continue;
		sp_stream_life(run, &report->totals, i, &begin_ns, &end_ns);
		if (share_between(steps, begin_ns, end_ns) >= 0.5)
			return true;
	}
	return false;
}

/* A thread that other programs keep from the cores is busy, too: it may hold the interpreter's
 * lock. */
static bool is_busy_beside(const struct rusage_span *span)
{
	const struct sp_rusage_metadata *u = &span->used;
	double all_ns = (double)u->process_cpu_ns + (double)u->process_ready_ns;
	double ns = all_ns - (double)u->cpu_ns - (double)u->ready_ns;
	double share = ns / life_of(span);

	return share >= BUSY_LEAST || (share >= BUSY_TIME && ns >= BUSY_LEAST * all_ns);
}

bool sp_metrics_has_busy_thread(const struct sp_report *report)
{
	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t stream = report->training.trainers[t].stream;
		struct rusage_span span;

		if (!rusage_of(&span, report, stream, true))
			continue;
		if (is_busy_beside(&span) && records_beside(report, stream, &span))
			return true;
	}
	return false;
}

static void add_workers(struct sp_cpu_use *workers, const struct sp_report *report)
{
	struct rusage_span span, training;

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];
		uint32_t trainer = report->training.trainers[w->trainer].stream;

		if (w->is_trainer || !rusage_of(&span, report, w->stream, false))
			continue;
		if (!rusage_of(&training, report, trainer, true))
			training = span;
		add_process(workers, &span,
			    share_between(&span, training.begin_ns, training.end_ns),
			    w->fetches.batches);
	}
}

static void mark_known(bool *is_known, const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;

	for (uint32_t t = 0; t < report->training.count; t++)
		is_known[index->streams[report->training.trainers[t].stream]->image] = true;
	for (uint32_t w = 0; w < report->workers.count; w++)
		is_known[index->streams[report->workers.list[w].stream]->image] = true;
}

/* The share of a process's life on this host in which a trainer trained. */
static double share_trained(const struct trained *trained, const struct rusage_span *life,
			    uint32_t host)
{
	return SP_SUM(double, t, trained->count,
		      (trained->spans[t].host == host)
			      ? share_between(life, trained->spans[t].begin_ns,
					      trained->spans[t].end_ns)
			      : 0);
}

/* At least: one thread may have been busy as long as nothing trained, with imports. */
static void add_bystander(struct sp_cpu_use *use, const struct rusage_span *life, double share)
{
	double life_ns = life_of(life);
	double cpu_ns = (double)life->used.process_cpu_ns;
	double ready_ns = (double)life->used.process_ready_ns;

	use->life_ns += life_ns;
	use->used_ns += fmax(cpu_ns - life_ns * (1 - share), 0);
	use->demand_ns += fmax(cpu_ns + ready_ns - life_ns * (1 - share), 0);
}

/* Processes of the job that neither train nor make batches of a loader: evaluators, feeders.
 * Returns how many lived through half of the training and were killed, so that their use is not
 * known. */
static uint32_t add_bystanders(struct sp_cpu_use *bystanders, const struct sp_report *report,
			       const struct trained *trained)
{
	const struct sp_index *index = &report->run.index;
	bool *is_known = calloc(index->image_count + 1, sizeof(*is_known));
	uint32_t unaccounted = 0;

	if (is_known)
		mark_known(is_known, report);
	for (uint32_t i = 0; is_known && i < index->stream_count; i++) {
		uint32_t image = index->streams[i]->image;
		bool is_first = index->streams[i]->tid == index->images[image].pid;
		struct rusage_span life;
		bool has_usage;
		double share;

		if (is_known[image] || !is_first)
			continue;
		has_usage = rusage_of(&life, report, i, false);
		share = share_trained(trained, &life, index->images[image].host);
		if (has_usage)
			add_bystander(bystanders, &life, share);
		else
			unaccounted += trained->ns > 0 && 2 * share * life_of(&life) >= trained->ns;
		is_known[image] = true;
	}
	free(is_known);
	return unaccounted;
}

/* Processors that the process may use; a fraction of one counts as one. 0: unknown. */
static double cores_of(const struct sp_cpu_metadata *cpus)
{
	double quota = ((double)cpus->quota_millicores + 999) / 1000;

	if (!cpus->allowed)
		return 0;
	return cpus->quota_millicores && quota < cpus->allowed ? (double)(uint32_t)quota
							       : cpus->allowed;
}

double sp_cpu_cores(const struct sp_report *report)
{
	for (uint32_t t = 0; t < report->training.count; t++) {
		double cores = cores_of(&sp_trainer_metadata(&report->training, t)->cpus);

		if (cores > 0)
			return cores;
	}
	return NAN;
}

double sp_cpu_run_ns(const struct sp_report *report)
{
	const struct sp_run *run = &report->run;
	double ns = 0;

	for (uint32_t i = 0; i < run->index.stream_count; i++) {
		const struct sp_thread_usage *u = &run->metadata.usages[i];
		bool is_first =
			!i || run->index.streams[i - 1]->image != run->index.streams[i]->image;

		if (is_first && u->is_known && u->whole.process_cpu_ns != UINT64_MAX)
			ns += (double)u->whole.process_cpu_ns;
	}
	return ns;
}

double sp_cpu_outside(const struct sp_cpu_sums *cpu, const struct sp_cpu_use *use, double cores,
		      double others)
{
	double own, ready, outside;

	if (use->life_ns <= 0 || cpu->trained_ns <= 0 || cores <= 0)
		return NAN;
	own = fmax(sp_cpu_cores_used(cpu) - use->cpu_ns / use->life_ns, 0);
	ready = use->ready_ns / use->life_ns;
	outside = fmax(ready - own / cores, 0);
	if (isnan(others))
		return outside;
	return others > 0 ? fmin(outside, ready * others / (others + own)) : 0;
}

void sp_cpu_sums_read(struct sp_cpu_sums *cpu, const struct sp_report *report)
{
	struct trained trained = find_trained(report);

	add_trainers(cpu, report);
	add_workers(&cpu->workers, report);
	cpu->unaccounted = add_bystanders(&cpu->bystanders, report, &trained);
	cpu->trained_ns = trained.ns;
	free(trained.spans);
}
