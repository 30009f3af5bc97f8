/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_cores.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"

#define WORDS SP_CPU_MASK_WORDS
#define THROTTLED_LEAST 10.0 /* periods: fewer say nothing */

static uint32_t image_of(const struct sp_report *report, uint32_t stream)
{
	return report->run.index.streams[stream]->image;
}

static const struct sp_process_metadata *trainer_at(const struct sp_report *report, uint32_t t)
{
	return &report->run.metadata.images[image_of(report, report->training.trainers[t].stream)];
}

static const struct sp_cpu_metadata none;

/* The first trainer whose cores are known; else zeros. */
static const struct sp_cpu_metadata *cpus_of(const struct sp_report *report)
{
	for (uint32_t t = 0; t < report->training.count; t++)
		if (trainer_at(report, t)->cpus.usable_count)
			return &trainer_at(report, t)->cpus;
	return &none;
}

static uint32_t count_of(const uint64_t mask[WORDS])
{
	return SP_SUM(uint32_t, i, WORDS, (uint32_t)__builtin_popcountll(mask[i]));
}

static bool share_a_core(const uint64_t a[WORDS], const uint64_t b[WORDS])
{
	return SP_ANY(i, WORDS, a[i] & b[i]);
}

/* All cores that workers may use; where one does not know its own: none. */
static void workers_mask(const struct sp_report *report, uint64_t ret[WORDS])
{
	memset(ret, 0, WORDS * sizeof(*ret));
	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];
		const struct sp_cpu_metadata *cpus =
			&report->run.metadata.images[image_of(report, w->stream)].cpus;

		if (w->is_trainer)
			continue;
		if (!cpus->usable_count) {
			memset(ret, 0, WORDS * sizeof(*ret));
			return;
		}
		for (size_t word = 0; word < WORDS; word++)
			ret[word] |= cpus->mask[word];
	}
}

double sp_cores_usable(const struct sp_report *report)
{
	return IF(cpus_of(report)->usable_count, cpus_of(report)->usable_count);
}

double sp_cores_of_workers(const struct sp_report *report)
{
	uint64_t mask[WORDS];

	workers_mask(report, mask);
	return IF(count_of(mask), count_of(mask));
}

/* "0-3,8" */
static void mask_text(const uint64_t mask[WORDS], char *ret, size_t bytes)
{
	size_t used = 0;

	*ret = '\0';
	for (uint32_t i = 0, last; i < WORDS * 64 && used < bytes; i = last + 1) {
		last = i;
		if (!(mask[i / 64] >> i % 64 & 1))
			continue;
		while (last + 1 < WORDS * 64 && mask[(last + 1) / 64] >> (last + 1) % 64 & 1)
			last++;
		used += (size_t)snprintf(ret + used, bytes - used, last > i ? "%s%u-%u" : "%s%u",
					 used ? "," : "", i, last);
	}
}

/* Room for a list that has no end in sight. */
#define LIST_BYTES 128

/* Returns the number of the mask's cores, and names them; 0: the mask is not known, or has all
 * cores with which the program began. */
static uint32_t crowd_of(const struct sp_report *report, const uint64_t mask[WORDS],
			 char list[LIST_BYTES])
{
	uint32_t count = count_of(mask);

	mask_text(mask, list, LIST_BYTES);
	return count < cpus_of(report)->initial_count ? count : 0;
}

const char *sp_cores_trainer_crowd(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES])
{
	char list[LIST_BYTES];
	uint32_t count = crowd_of(report, cpus_of(report)->mask, list);

	snprintf(text, SP_METRIC_TEXT_BYTES,
		 count == 1 ? _("the training thread may use core %s alone")
			    : _("the training thread may use cores %s alone"),
		 list);
	return count ? text : NULL;
}

static bool has_workers(const struct sp_report *report)
{
	return SP_ANY(i, report->workers.count, !report->workers.list[i].is_trainer);
}

const char *sp_cores_worker_crowd(const struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	uint64_t mask[WORDS];
	char list[LIST_BYTES];
	uint32_t count;

	if (!has_workers(m->report))
		return sp_cores_trainer_crowd(m->report, text);
	workers_mask(m->report, mask);
	count = crowd_of(m->report, mask, list);
	snprintf(text, SP_METRIC_TEXT_BYTES,
		 count == 1 ? _("the workers may use core %s alone")
			    : _("the workers may use cores %s alone"),
		 list);
	return count ? text : NULL;
}

const char *sp_cores_initial(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES])
{
	const struct sp_cpu_metadata *cpus = cpus_of(report);

	if (!cpus->initial_count || cpus->initial_count >= cpus->usable_count)
		return NULL;
	mask_text(cpus->initial, text, LIST_BYTES);
	return text;
}

void sp_cores_affinity(const struct sp_report *report, char *ret, size_t bytes)
{
	mask_text(cpus_of(report)->mask, ret, bytes);
}

/* A count of the last report of the first trainer that has two, beyond that of its first one. */
struct between {
	bool is_known;
	struct sp_cores_metadata first, last;
	double ns;
};

static struct between between_of(const struct sp_report *report)
{
	struct between b = {.is_known = false};

	for (uint32_t t = 0; !b.is_known && t < report->training.count; t++) {
		uint32_t image = image_of(report, report->training.trainers[t].stream);
		uint32_t host = report->run.index.images[image].host;
		const struct sp_core_use *use = &report->run.metadata.images[image].core_use;

		b.is_known = use->first.at && use->last.at > use->first.at;
		b.first = use->first;
		b.last = use->last;
		b.ns = b.is_known ? (double)sp_clock_span_ns(report->run.index.hosts[host]
								     .clock.ns_per_tick,
							     use->last.at - use->first.at)
				  : 0;
	}
	return b;
}

static double counted(uint64_t before, uint64_t after)
{
	return before == UINT64_MAX || after == UINT64_MAX || after < before
		       ? NAN
		       : (double)(after - before);
}

/* NAN where the part is not known, which fmin() would make 1. */
static double share_of(double part, double whole)
{
	return part > whole ? 1 : part / whole;
}

static double machine_share(const struct between *b, bool is_idle)
{
	double busy = counted(b->first.busy_ms, b->last.busy_ms),
	       idle = counted(b->first.idle_ms, b->last.idle_ms);

	return b->is_known ? RATIO(is_idle ? idle : busy, busy + idle) : UNKNOWN;
}

double sp_cores_idle(const struct sp_report *report)
{
	struct between b = between_of(report);

	return machine_share(&b, true) * sp_cores_usable(report);
}

double sp_cores_busy(const struct sp_report *report)
{
	struct between b = between_of(report);

	return machine_share(&b, false) * sp_cores_usable(report);
}

double sp_cores_quota(const struct sp_report *report)
{
	const struct sp_cpu_metadata *cpus = cpus_of(report);

	return IF(cpus->quota_millicores, cpus->quota_millicores / 1000.0);
}

double sp_cores_throttled_share(const struct sp_report *report)
{
	struct between b = between_of(report);
	double periods = counted(b.first.periods, b.last.periods);

	return IF(b.is_known && periods >= THROTTLED_LEAST,
		  share_of(counted(b.first.throttled, b.last.throttled), periods));
}

double sp_cores_throttled_ns(const struct sp_report *report)
{
	struct between b = between_of(report);
	double us = counted(b.first.throttled_us, b.last.throttled_us);

	return IF(b.is_known && us > 0, us * 1000);
}

double sp_cores_pressure(const struct sp_report *report)
{
	struct between b = between_of(report);

	return IF(b.is_known && b.ns > 0,
		  share_of(counted(b.first.pressure_us, b.last.pressure_us) * 1000, b.ns));
}

static bool train_at_once(const struct sp_steps *a, const struct sp_steps *b)
{
	return a->count && b->count && a->steps[0].start_ns < b->steps[b->count - 1].end_ns &&
	       b->steps[0].start_ns < a->steps[a->count - 1].end_ns;
}

/* Masks that are not known may be the same. */
static bool may_share(const struct sp_cpu_metadata *a, const struct sp_cpu_metadata *b)
{
	return !a->usable_count || !b->usable_count || share_a_core(a->mask, b->mask);
}

static uint32_t host_of(const struct sp_report *report, uint32_t t)
{
	uint32_t stream = report->training.trainers[t].stream;

	return report->run.index.images[image_of(report, stream)].host;
}

static uint32_t trainers_beside(const struct sp_report *report, uint32_t t)
{
	const struct sp_training *training = &report->training;

	return SP_SUM(uint32_t, i, training->count,
		      host_of(report, i) == host_of(report, t) &&
			      train_at_once(&training->trainers[i].steps,
					    &training->trainers[t].steps) &&
			      may_share(&trainer_at(report, i)->cpus,
					&trainer_at(report, t)->cpus));
}

/* All of a run with very many trainers may share the cores of the first ones. */
#define LOOKED_AT 64u

double sp_cores_trainers(const struct sp_report *report)
{
	uint32_t most = 0;

	for (uint32_t t = 0; t < report->training.count && t < LOOKED_AT; t++) {
		uint32_t n = trainers_beside(report, t);

		most = n > most ? n : most;
	}
	return IF(most, most);
}
