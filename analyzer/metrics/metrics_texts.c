/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_texts.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/metadata/source_lines.h"
#include "analyzer/metrics/metrics_ways.h"
#include "analyzer/ranks/ranks.h"
#include "analyzer/report/report.h"
#include "analyzer/samples/sampled_line.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define OPTIMIZER_MOST 0.5  /* of the training time: the model is not the part to change */
#define UNMARKED_SHOWN 0.01 /* of the training time: below it one share says it */

const char *sp_text_sync_line(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES])
{
	const struct sp_line *line, *longest = NULL;
	const char *tab;

	for (line = report->run.metadata.slow.lines.by_key; line; line = line->hh.next)
		if (sp_gpu_call_is_kept(line->key.kind) &&
		    (!longest || line->ticks > longest->ticks))
			longest = line;
	if (!longest)
		return NULL;
	tab = memchr(longest->key.text, '\t', longest->text_bytes);
	sp_text_escape(text, SP_METRIC_TEXT_BYTES, longest->key.text,
		       tab ? (size_t)(tab - longest->key.text) : longest->text_bytes);
	return text;
}

/* Out of memory it is not known. */
static struct sp_sampled_line input_line(const struct sp_report *report)
{
	static const struct sp_sampled_line none;
	struct sp_sampled_line ret;

	sp_sampled_line_find(&ret, &report->samples, SP_SAMPLED_batches);
	return ret.is_rough ? none : ret;
}

const char *sp_text_input_line(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES])
{
	struct sp_sampled_line line = input_line(report);

	snprintf(text, SP_METRIC_TEXT_BYTES, "%s%s", line.samples ? _(": ") : "", line.place);
	return text;
}

double sp_text_input_line_share(const struct sp_report *report)
{
	struct sp_sampled_line line = input_line(report);

	return IF(line.samples, line.share);
}

double sp_text_input_line_samples(const struct sp_report *report)
{
	struct sp_sampled_line line = input_line(report);

	return IF(line.samples, line.samples);
}

static const struct sp_rank *latest_rank(const struct sp_ranks *ranks)
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
const char *sp_text_straggler(const struct sp_metric_sums *m, char *text, size_t bytes)
{
	const struct sp_report *report = m->report;
	const struct sp_rank *rank = latest_rank(&report->ranks);
	const struct sp_process_image *process;
	const struct sp_host *host;
	const char *phase;
	char name[256];

	if (!rank)
		return NULL;
	process = sp_trainer_image(&report->training, rank->trainer);
	host = &report->run.index.hosts[process->host];
	phase = sp_account_title(rank->cause);
	sp_text_escape(name, sizeof(name), host->name, strnlen(host->name, sizeof(host->name)));
	if (rank->group == SP_RANK_HOST)
		snprintf(text, bytes, _("all ranks of host %.64s, longer in %s"), name, phase);
	else if (rank->group == SP_RANK_SLOT && process->local_rank)
		snprintf(text, bytes, _("local rank %llu of every host, longer in %s"),
			 (unsigned long long)process->local_rank - 1, phase);
	else
		snprintf(text, bytes, _("rank %llu, longer in %s"),
			 (unsigned long long)(process->rank ? process->rank - 1 : rank->trainer),
			 phase);
	return text;
}

double sp_text_straggler_share(const struct sp_metric_sums *m)
{
	const struct sp_rank *rank = latest_rank(&m->report->ranks);

	return rank ? RATIO(rank->behind_p50_ns, rank->wall_p50_ns) : UNKNOWN;
}

/* Each worker has an IterableDataset whole. */
const char *sp_text_division(const struct sp_report *report)
{
	if (sp_metadata_has_coverage(&report->run.metadata, "dataset\tbound\titerable"))
		return _(" The dataset is an IterableDataset: see that it divides its samples by "
			 "get_worker_info(), because else each worker gives all of them.");
	if (sp_metadata_has_coverage(&report->run.metadata, "dataset\tbound\tindexed"))
		return "";
	return _(" If the dataset is an IterableDataset, see that it divides its samples by "
		 "get_worker_info(): else each worker gives all of them.");
}

/* The number of loaders that gave most steps a batch; 0: one, or none. */
static uint32_t usual_loaders(const struct sp_training_time *t)
{
	for (uint32_t n = 2; n <= SP_STEP_PASSES; n++)
		if (2 * t->loaders[n] > t->steps)
			return n;
	return 0;
}

static double find_slow_loader(const struct sp_training_time *t, uint32_t *ret)
{
	double all = 0;

	*ret = 0;
	for (uint32_t k = 0; k < usual_loaders(t); k++) {
		all += t->loader_ns[k];
		*ret = t->loader_ns[k] > t->loader_ns[*ret] ? k : *ret;
	}
	return RATIO(t->loader_ns[*ret], all);
}

double sp_text_slow_loader_share(const struct sp_training_time *t)
{
	uint32_t slowest;

	return find_slow_loader(t, &slowest);
}

const char *sp_text_slow_loader(const struct sp_training_time *t, char text[SP_METRIC_TEXT_BYTES])
{
	uint32_t slowest;

	if (isnan(find_slow_loader(t, &slowest)))
		return NULL;
	/* Translators: the number of a loader; the number of loaders. */
	snprintf(text, SP_METRIC_TEXT_BYTES, _("loader %u of the %u that a step asks in turn"),
		 slowest + 1, usual_loaders(t));
	return text;
}

const char *sp_text_model_takes(struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	const struct sp_training_time *t = &m->time;
	char least[SP_NUMBER_BYTES], most[SP_NUMBER_BYTES], optimizer[SP_NUMBER_BYTES];
	size_t used;

	if (!KNOWN(compute_share) || !KNOWN(model_share))
		return NULL;
	sp_metric_text(m->e, SP_METRIC_model_share, least, sizeof(least));
	sp_metric_text(m->e, SP_METRIC_compute_share, most, sizeof(most));
	if (sp_time_unmarked_ns(t) + sp_metric_idle_calls(m) * t->total < UNMARKED_SHOWN * t->total)
		snprintf(text, SP_METRIC_TEXT_BYTES, "%s", least);
	else /* Translators: two shares, the least and the most. */
		snprintf(text, SP_METRIC_TEXT_BYTES, _("%s to %s"), least, most);
	if (V(optimizer_share) < OPTIMIZER_MOST)
		return text;
	/* A costly optimizer is a part of the model's share, and the part to change. */
	sp_metric_text(m->e, SP_METRIC_optimizer_share, optimizer, sizeof(optimizer));
	used = strlen(text);
	/* Translators: after a share of the model; a share. */
	snprintf(text + used, SP_METRIC_TEXT_BYTES - used, _(" (its optimizer alone %s)"),
		 optimizer);
	return text;
}

/* The ways of the loader that the trainer used, or else PyTorch's. */
const char *sp_text_validation_ways(struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	if (!KNOWN(loader_ways))
		return _("Give the DataLoader of validation workers where it has few or none, keep "
			 "them where each validation starts new ones");
	snprintf(text, SP_METRIC_TEXT_BYTES, _("Let the loader of validation work ahead (%s)"),
		 m->e->of[SP_METRIC_loader_ways].text);
	return text;
}

/* Casts that gradients flow back through: autocast, or by hand. */
static bool casts(const struct sp_training *training)
{
	return SP_ANY(i, training->count, sp_trainer_metadata(training, i)->casts);
}

bool sp_text_is_compiled(const struct sp_report *report)
{
	return SP_ANY(i, report->training.count,
		      sp_trainer_metadata(&report->training, i)->compiles);
}

const char *sp_text_model_ways(const struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	const struct sp_metadata *md = &m->report->run.metadata;
	bool is_low = sp_metadata_has_coverage(md, "parameters\tbound\tlow precision") ||
		      casts(&m->report->training);
	bool has_first = sp_metadata_has_coverage(md, "parameters\tbound\tchannels first");
	bool compiles = sp_text_is_compiled(m->report) || !sp_ways_are_pytorch(m);
	const char *ways[] = {
		is_low ? NULL : N_("mixed precision"),
		compiles ? NULL : N_("torch.compile"),
		has_first ? N_("channels_last") : NULL,
		N_("a smaller model"),
	};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i])
			used += (size_t)snprintf(text + used, SP_METRIC_TEXT_BYTES - used, "%s%s",
						 used ? _(", ") : "", _(ways[i]));
	return text;
}
