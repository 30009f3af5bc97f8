/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_stepless.h"

#include <signal.h>
#include <stdio.h>

#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"
#include "analyzer/totals/process_end.h"

static void set_text(struct sp_metric *m, const char *text)
{
	snprintf(m->text, sizeof(m->text), "%s", text);
	m->is_known = true;
}

/* A stage without calls is not known: nothing was done, or no hook saw it. */
static void set_stage_ns(struct sp_metrics *e, enum sp_metric_id metric, uint64_t calls,
			 uint64_t ns)
{
	if (calls)
		sp_metrics_set(e, metric, (double)ns);
}

static void set_stages(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_sums *stages = report->totals.stages;
	const struct sp_sums *read = &stages[SP_STAGE_file_read],
			     *open = &stages[SP_STAGE_file_open];
	double run_ns = (double)(report->totals.end_ns - report->run.begin_ns);
	uint64_t calls = 0, ns = 0;

	if (read->calls)
		sp_metrics_ratio(e, SP_METRIC_read_rate, (double)read->bytes * 1e9, run_ns);
	set_stage_ns(e, SP_METRIC_read_ns, read->calls, read->total_ns + open->total_ns);
	set_stage_ns(e, SP_METRIC_wait_ns, stages[SP_STAGE_wait].calls,
		     stages[SP_STAGE_wait].total_ns);
#define SP_DECODER(class, stage, title, work, inside)                                              \
	calls += stages[SP_STAGE_##stage].calls;                                                   \
	ns += stages[SP_STAGE_##stage].total_ns;
#include "trace/decoders.def"
#undef SP_DECODER
	set_stage_ns(e, SP_METRIC_decode_ns, calls, ns);
}

/* The processor time of processes whose first thread reported it. */
static void set_cores(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_run *run = &report->run;
	double cpu_ns = 0;

	for (uint32_t i = 0; i < run->index.stream_count; i++) {
		const struct sp_thread_usage *u = &run->metadata.usages[i];
		bool is_first =
			!i || run->index.streams[i - 1]->image != run->index.streams[i]->image;

		if (is_first && u->is_known && u->whole.process_cpu_ns != UINT64_MAX)
			cpu_ns += (double)u->whole.process_cpu_ns;
	}
	if (cpu_ns > 0)
		sp_metrics_ratio(e, SP_METRIC_cores_used, cpu_ns,
				 (double)(report->totals.end_ns - run->begin_ns));
}

static bool has_forwards(const struct sp_report *report)
{
	uint64_t forwards = UINT64_C(1) << SP_PHASE_forward | UINT64_C(1)
								      << SP_PHASE_forward_no_grad;

	return (report->totals.phases & forwards) != 0;
}

/* The launcher's command, or the process that began first. */
static struct sp_process_end end_of_program(const struct sp_report *report)
{
	struct sp_command_end command = sp_command_end_of(&report->run);

	if (command.is_known)
		return command.end;
	if (!report->run.index.image_count)
		return (struct sp_process_end){.how = SP_PROCESS_UNKNOWN};
	return sp_process_end_of(&report->run, &report->totals, sp_process_first(&report->run));
}

/* A program that fails in its first step has perhaps a loader and a forward, and no step. */
static bool has_failed(const struct sp_report *report)
{
	struct sp_process_end end = end_of_program(report);

	switch (end.how) {
	case SP_PROCESS_EXITED:
		return end.status != 0;
	case SP_PROCESS_SIGNALED: /* not those by which people end a program */
		return end.status == SIGSEGV || end.status == SIGABRT || end.status == SIGBUS ||
		       end.status == SIGFPE || end.status == SIGILL;
	default:
		return end.how == SP_PROCESS_OOM;
	}
}

static void set_reason(struct sp_metrics *e, const struct sp_report *report, const char *unseen)
{
	struct sp_metric *reason = &e->of[SP_METRIC_cannot_tell];
	bool may_train = e->has_loader_calls || e->trains_unseen || e->gives_steps;
	bool is_failed = may_train && has_failed(report);
	bool is_evaluation = e->has_loader_calls && e->has_forwards && !is_failed;

	if (reason->is_known || is_evaluation)
		return;
	if (is_failed) {
		set_text(reason, _("the program failed, and no step was recorded before. If it "
				   "made "
				   "steps, name their function in STAGEPROF_FUNCTIONS"));
	} else if (e->trains_unseen) {
		snprintf(reason->text, sizeof(reason->text),
			 _("steps of %s are not recorded. Name the function that makes a step in "
			   "STAGEPROF_FUNCTIONS to time it"),
			 unseen);
		reason->is_known = true;
	} else if (e->has_loader_calls) {
		set_text(reason, _("a DataLoader gave batches, and no call that is recorded took "
				   "them. Name the function that makes a step in "
				   "STAGEPROF_FUNCTIONS to time it"));
	}
}

void sp_metrics_stepless(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_frameworks frameworks;
	char unseen[SP_METRIC_TEXT_BYTES / 2];

	sp_frameworks_read(&report->run.metadata, &frameworks);
	e->gives_steps = sp_frameworks_give_steps(&frameworks);
	e->trains_unseen = sp_frameworks_unseen_text(&frameworks, unseen, sizeof(unseen)) > 0;
	e->has_forwards = has_forwards(report);
	set_reason(e, report, unseen);
	if (!e->of[SP_METRIC_cannot_tell].is_known)
		return;
	set_stages(e, report);
	set_cores(e, report);
}
