/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/hang/hang_text.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/metrics/metrics_abstain.h"
#include "analyzer/metrics/metrics_cores.h"
#include "analyzer/metrics/metrics_device.h"
#include "analyzer/metrics/metrics_drift.h"
#include "analyzer/metrics/metrics_epochs.h"
#include "analyzer/metrics/metrics_facts.h"
#include "analyzer/metrics/metrics_input.h"
#include "analyzer/metrics/metrics_texts.h"
#include "analyzer/metrics/metrics_ways.h"
#include "analyzer/report/report.h"
#include "analyzer/training/life.h"
#include "analyzer/training/training_account.h"

/* Mapped memory and computing have no hook, so little visible input does not prove little input. */
#define OWN_INPUT_LEAST 0.05

/* A first batch's wait counts only as a first batch, so no time counts twice. */
#define FIRST_WAIT_NS fmin(t->first_ns - t->loader_start_ns, NS(loader_wait))
#define RESTARTS_NS (t->first_ns - t->run_start_ns - t->run_end_ns)
#define END_CHECKPOINT_NS ((double)t->ends.ns[SP_ACCOUNT_checkpoint])
/* Without one, the weights may be changed by hand in any of the loop's code. */
#define HAS_UPDATE (t->has[SP_ACCOUNT_optimizer] || SUM(cleared) > 0)
/* A backward shows a model, and its forward holds no other work. */
#define IS_MODEL_ALONE                                                                             \
	(t->has[SP_ACCOUNT_backward] && V(forward_ratio) < SP_FORWARD_LONG &&                      \
	 V(rare_forward_share) < SP_FORWARD_RARE && V(unmarked_share) < SP_UNMARKED_MUCH)
#define SYNCS (d->syncs || d->blocking_copies)
/* The sums are of all training, of which validation and long first steps are a part, and a what-if
 * is about a steady step: as much of the sum is there as of the account. */
#define STEADY_SYNC_NS                                                                             \
	RATIO(sp_device_synced_ns(d) * (double)t->mean.account.ns[SP_ACCOUNT_sync_wait],           \
	      t->in_steps.ns[SP_ACCOUNT_sync_wait])
#define WORK(work) ((double)in->whole.ns[SP_WORK_##work])
#define MEANWHILE(work) ((double)in->meanwhile.ns[SP_WORK_##work])
#define IS_MADE_LATE sp_input_is_made_late(m)
#define RECEIVES (!in->on_trainer && h->batches && h->ns >= 0)
/* A file's first read may fetch all of it, so those after it take no time. */
#define LONG_READS (2 * f->slow_read_ns >= f->read_ns ? f->slow_reads : f->reads)
/* A run without workers shows no start. */
#define TIMES_STARTED (in->at_once ? V(worker_lives) : V(epochs))
/* More workers do not help a trainer that waits for something else. */
#define ARE_WORKERS_SHORT                                                                          \
	(V(cores) > 0 && !in->on_trainer && V(worker_idle_share) < SP_WORKERS_IDLE &&              \
	 V(fetch_locked_share) < SP_FETCHES_LOCKED)
#define TRAINED (cpu->trained_ns > 0 && KNOWN(cores))
/* Cores for each trainer that are idle for most of the time: a quiet machine's other programs take
 * some of it, too. */
#define MOSTLY_IDLE_CORES floor(V(idle_cores) / V(host_trainers) + 1 - SP_CORES_MOSTLY_IDLE)
/* The quota does not forbid them. */
#define HAS_IDLE_CORES (V(idle_cores) >= SP_CORES_IDLE && V(throttled_share) < SP_CORES_THROTTLED)
/* In the other periods the job had all of its quota: other programs took nothing from it. */
#define IN_QUOTA (1 - V(throttled_share))
#define OTHERS IF(KNOWN(others_cores), V(others_cores))
#define STAGE(stage) (report->totals.stages[SP_STAGE_##stage])
#define RUN_NS (report->totals.end_ns - report->run.begin_ns)

/* A stage without calls is not known: nothing was done, or no hook saw it. */
static double decode_ns(const struct sp_report *report)
{
	uint64_t calls = 0, ns = 0;

#define SP_DECODER(class, stage, title, work, inside)                                              \
	calls += STAGE(stage).calls;                                                               \
	ns += STAGE(stage).total_ns;
#include "trace/decoders.def"
#undef SP_DECODER
	return IF(calls, ns);
}

static const char *hang_chain(const struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	sp_hang_text(m->report, &m->hang, text, SP_METRIC_TEXT_BYTES);
	return m->hang.is_hung ? text : NULL;
}

/* The training thread neither on a core nor ready for one, outside of known waits. A part of these
 * waits may have been on a core. */
static double blocked_share(struct sp_metric_sums *m)
{
	const struct sp_cpu_use *u = &m->cpu.stepped;
	double off = 1 - u->cpu_ns / u->life_ns - u->ready_ns / u->life_ns;

	off = off - V(loader_wait_share) - V(first_batch_share) - V(sync_share) - V(copy_share) -
	      V(communication_share) - V(checkpoint_share) - V(validation_share) - V(write_share) -
	      V(message_share) - V(loop_others_share);
	return IF(u->life_ns > 0, fmax(off, 0));
}

/* The columns `value` of TEXT and of the other units are two functions. */
#define TEXT_OF_SHARE(value) NULL
#define TEXT_OF_NS(value) NULL
#define TEXT_OF_COUNT(value) NULL
#define TEXT_OF_RATIO(value) NULL
#define TEXT_OF_BYTES(value) NULL
#define TEXT_OF_TEXT(value) (value)
#define NUMBER_OF_SHARE(value) (value)
#define NUMBER_OF_NS(value) (value)
#define NUMBER_OF_COUNT(value) (value)
#define NUMBER_OF_RATIO(value) (value)
#define NUMBER_OF_BYTES(value) (value)
#define NUMBER_OF_TEXT(value) UNKNOWN

static double number_of(struct sp_metric_sums *m, enum sp_metric_id metric)
{
	const struct sp_report *report = m->report;
	const struct sp_metrics *e = m->e;
	const struct sp_training_time *t = &m->time;
	const struct sp_cpu_sums *cpu = &m->cpu;
	const struct sp_input_sums *in = &m->input;
	const struct sp_fetch_files *f = &in->fetches.files;
	const struct sp_call_rusage_sums *u = &in->fetches.usage;
	const struct sp_batch_receive *h = &report->workers.receive;
	const struct sp_device_calls *d = &m->device;

	switch (metric) {
#define SP_METRIC(name, unit, title, row, of, value)                                               \
	case SP_METRIC_##name:                                                                     \
		return m->is[SP_OF_##of] ? NUMBER_OF_##unit(value) : UNKNOWN;
#include "analyzer/metrics/metric.def"
#undef SP_METRIC
	case SP_METRICS:
		break;
	}
	return UNKNOWN;
}

static const char *text_of(struct sp_metric_sums *m, enum sp_metric_id metric,
			   char text[SP_METRIC_TEXT_BYTES])
{
	switch (metric) {
#define SP_METRIC(name, unit, title, row, of, value)                                               \
	case SP_METRIC_##name:                                                                     \
		return m->is[SP_OF_##of] ? TEXT_OF_##unit(value) : NULL;
#include "analyzer/metrics/metric.def"
#undef SP_METRIC
	case SP_METRICS:
		break;
	}
	return NULL;
}

static bool has_loader_calls(const struct sp_report *report)
{
	return SP_ANY(i, report->run.index.image_count, report->run.metadata.images[i].asks_loader);
}

static void set_rounds(struct sp_metrics *e, const struct sp_training *training)
{
	bool has_rounds = false, has_others = false;

	for (uint32_t i = 0; i < training->count; i++) {
		const struct sp_steps *s = &training->trainers[i].steps;

		has_rounds |= s->rounds > 0;
		has_others |= s->rounds < s->optimizer_count;
		e->has_whole_calls |= s->has_whole_calls;
	}
	e->is_mixed = has_rounds && has_others;
}

/* A run without steps may train all the same, or evaluate. */
static void set_stepless(struct sp_metrics *e, const struct sp_report *report)
{
	const uint64_t one = 1,
		       forwards = one << SP_PHASE_forward | one << SP_PHASE_forward_no_grad;
	struct sp_frameworks frameworks;
	char unseen[SP_METRIC_TEXT_BYTES];

	sp_frameworks_read(&report->run.metadata, &frameworks);
	e->gives_steps = sp_frameworks_give_steps(&frameworks);
	e->trains_unseen = sp_frameworks_unseen_text(&frameworks, unseen, sizeof(unseen)) > 0;
	e->has_forwards = (report->totals.phases & forwards) != 0;
}

static void set_flags(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_training *training = &report->training;

	e->trainers = training->count;
	e->events_lost = report->totals.lost + report->totals.missing + report->totals.holes;
	e->events_unknown = report->totals.unknown;
	e->files_unread = sp_index_unread(&report->run.index);
	e->tails_away = report->totals.tails_away;
	e->is_from_digest = sp_index_has_digested(&report->run.index);
	e->is_unfed = sp_training_is_unfed(training);
	set_rounds(e, training);
	e->is_fed_by_thread = sp_training_is_fed_by_thread(training) ||
			      (e->is_unfed && sp_metrics_has_busy_thread(report));
	e->has_loader_calls = has_loader_calls(report);
}

static void read_scopes(struct sp_metric_sums *m)
{
	const struct sp_training_time *t = &m->time;
	bool has_events = !m->e->is_from_digest, has_wait = t->has[SP_ACCOUNT_loader_wait];
	bool is_loop = sp_training_end(&m->report->training) == SP_STEP_BY_BATCH;
	bool has_steps = t->steps && !is_loop, trains = has_events && has_steps;

	m->is[SP_OF_RUN] = true;
	m->is[SP_OF_EVENTS] = has_events && !is_loop;
	m->is[SP_OF_BATCH_LOOP] = has_events && is_loop;
	m->is[SP_OF_ACCOUNT] = has_steps;
	m->is[SP_OF_TRAINING] = trains;
	m->is[SP_OF_LOADER] = trains && has_wait && !m->e->is_unfed;
	m->is[SP_OF_OWN_INPUT] = trains && has_wait && m->e->is_unfed &&
				 NS(loader_wait) >= OWN_INPUT_LEAST * t->total;
	/* Without a backward the model's share of the rest is unknown. Beside a thread that makes
	 * batches the loop's code waits for the interpreter's lock too, so its time is not its own.
	 */
	m->is[SP_OF_LOOP] = trains && t->has[SP_ACCOUNT_backward] && t->has[SP_ACCOUNT_other] &&
			    !m->e->is_fed_by_thread;
	m->is[SP_OF_BATCHES] = trains && m->report->workers.count;
	if (trains && has_wait && m->e->is_unfed && !m->is[SP_OF_OWN_INPUT])
		m->e->unfed_seen = NS(loader_wait) / t->total;
}

/* The sums that only training has. */
static void read_sums(struct sp_metric_sums *m)
{
	const struct sp_metadata *metadata = &m->report->run.metadata;

	sp_device_sums_read(m);
	m->is[SP_OF_DEVICE] = m->device.is_used;
	sp_cpu_sums_read(&m->cpu, m->report);
	if (m->is[SP_OF_BATCHES])
		sp_input_sums_read(&m->input, m->report);
	m->e->hides_waits = sp_abstain_hides_waits(m);
	m->e->is_keras_on_torch = sp_metadata_has_coverage(metadata, "keras-backend\tbound\ttorch");
}

int sp_metrics_gather(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_metric_sums *m = calloc(1, sizeof(*m));
	int r = m ? sp_training_time_read(&m->time, report) : -ENOMEM;

	set_flags(e, report);
	if (r == 0) {
		m->report = report;
		m->e = e;
		m->number_of = number_of;
		m->text_of = text_of;
		e->is_forward_left_over = m->time.is_forward_left_over;
		read_scopes(m);
		if (m->is[SP_OF_EVENTS])
			sp_hang_find(report, &m->hang);
		if (m->is[SP_OF_TRAINING])
			read_sums(m);
		else if (!e->is_from_digest)
			set_stepless(e, report);
		m->is[SP_OF_STEPLESS] = !m->is[SP_OF_TRAINING] && !e->is_from_digest &&
					sp_metric_ask_known(m, SP_METRIC_cannot_tell);
		for (int i = 0; i < SP_METRICS; i++)
			sp_metric_ask(m, (enum sp_metric_id)i);
	}
	free(m);
	return r;
}
