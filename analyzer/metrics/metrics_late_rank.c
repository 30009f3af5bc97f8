/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_late_rank.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/ranks/ranks.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

static const struct sp_process_image *process_of(const struct sp_report *report,
						 const struct sp_rank *rank)
{
	uint32_t stream = report->training.trainers[rank->trainer].stream;

	return &report->run.index.images[report->run.index.streams[stream]->image];
}

static uint64_t rank_of(const struct sp_report *report, const struct sp_rank *rank)
{
	const struct sp_process_image *process = process_of(report, rank);

	return process->rank ? process->rank - 1 : rank->trainer;
}

const struct sp_rank *sp_metrics_latest_straggler(const struct sp_ranks *ranks)
{
	const struct sp_rank *latest = NULL;

	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct sp_rank *rank = &ranks->list[i];

		if (rank->is_straggler && (!latest || rank->behind_p50_ns > latest->behind_p50_ns))
			latest = rank;
	}
	return latest;
}

/* Ranks that are late together: to mend one of them saves nothing. */
void sp_metrics_who_straggles(const struct sp_report *report, const struct sp_rank *rank,
			      char *text, size_t bytes)
{
	const struct sp_process_image *process = process_of(report, rank);
	const struct sp_host *host = &report->run.index.hosts[process->host];
	const char *phase = sp_account_title(rank->cause);
	char name[256];

	sp_text_escape(name, sizeof(name), host->name, strnlen(host->name, sizeof(host->name)));
	if (rank->group == SP_RANK_HOST)
		snprintf(text, bytes, _("all ranks of host %.64s, longer in %s"), name, phase);
	else if (rank->group == SP_RANK_SLOT && process->local_rank)
		snprintf(text, bytes, _("local rank %llu of every host, longer in %s"),
			 (unsigned long long)process->local_rank - 1, phase);
	else
		snprintf(text, bytes, _("rank %llu, longer in %s"),
			 (unsigned long long)rank_of(report, rank), phase);
}

/* The time by which the other ranks are earlier than the latest one. All of them would save it. */
void sp_metrics_straggler(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_metric *text = &e->of[SP_METRIC_straggler];
	const struct sp_rank *latest = sp_metrics_latest_straggler(&report->ranks);

	if (!latest)
		return;
	sp_metrics_who_straggles(report, latest, text->text, sizeof(text->text));
	text->is_known = true;
	sp_metrics_ratio(e, SP_METRIC_straggler_share, (double)latest->behind_p50_ns,
			 (double)latest->wall_p50_ns);
}
