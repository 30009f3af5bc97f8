/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_job.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/training_account.h"

/* Each worker has an IterableDataset whole. */
static void set_division(struct sp_metrics *e, const struct sp_report *report)
{
	const char *text = _(" If the dataset is an IterableDataset, see that it divides its "
			     "samples by get_worker_info(): else each worker gives all of them.");

	if (sp_metadata_has_coverage(&report->run.metadata, "dataset\tbound\titerable"))
		text = _(" The dataset is an IterableDataset: see that it divides its samples by "
			 "get_worker_info(), because else each worker gives all of them.");
	else if (sp_metadata_has_coverage(&report->run.metadata, "dataset\tbound\tindexed"))
		text = "";
	sp_metrics_set_text(e, SP_METRIC_dataset_division, text);
}

/* A round of a booster reads such data inside, on threads of the booster. */
static void set_external_memory(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_metadata *m = &report->run.metadata;
	bool is_external = sp_metadata_has_coverage(m, "dataset\tbound\texternal memory");

	if (!e->of[SP_METRIC_cannot_tell].is_known && is_external)
		sp_metrics_set_text(e, SP_METRIC_cannot_tell,
				    _("XGBoost reads data from external memory inside of a round, "
				      "and no call shows how long a round waits for it"));
}

/* Loaders of other projects, by the label of their calls, and how each works ahead. */
static const struct loader {
	const char *label, *ways;
} loaders[] = {
	{"grain next", "Grain: worker_count of DataLoader, or mp_prefetch() of a dataset"},
	{"tf.data next", "tf.data: num_parallel_calls=tf.data.AUTOTUNE in map(), and prefetch()"},
	{"tf.distribute next", "tf.data: num_parallel_calls=tf.data.AUTOTUNE in map(), and "
			       "prefetch()"},
	{"flax next", "the loader under prefetch_to_device: tf.data with num_parallel_calls and "
		      "prefetch(), or Grain with worker_count"},
	{"keras next", "Keras: workers of PyDataset, or tf.data with num_parallel_calls"},
	{"spdl next", "SPDL: concurrency of pipe(), and num_threads"},
	{"ray.data next", "Ray Data: prefetch_batches, and more CPUs"},
	{"dali next", "DALI: num_threads and prefetch_queue_depth"},
	{"datasets next", "datasets: a DataLoader with num_workers around it"},
};
#define LOADERS (sizeof(loaders) / sizeof(loaders[0]))

static bool has_label(const struct sp_report *report, uint32_t trainer, const char *label)
{
	uint32_t stream = report->training.trainers[trainer].stream;
	const struct sp_process_metadata *image =
		&report->run.metadata.images[report->run.index.streams[stream]->image];

	for (uint32_t id = 0; id < image->label_room; id++) {
		size_t bytes;
		const char *text = sp_string_table_text(&report->run.metadata.labels,
							sp_process_label(image, id), &bytes);

		if (bytes == strlen(label) && memcmp(text, label, bytes) == 0)
			return true;
	}
	return false;
}

bool sp_metrics_has_label(const struct sp_report *report, const char *label)
{
	for (uint32_t t = 0; t < report->training.count; t++)
		if (has_label(report, t, label))
			return true;
	return false;
}

/* Where the making of batches was not seen, all that is known of it is who makes them. */
static void set_loader_ways(struct sp_metrics *e, const struct sp_report *report)
{
	for (size_t i = 0; i < LOADERS; i++)
		if (!e->of[SP_METRIC_loader_ways].is_known &&
		    sp_metrics_has_label(report, loaders[i].label))
			sp_metrics_set_text(e, SP_METRIC_loader_ways, loaders[i].ways);
}

/* The greatest number of a trainer: ranks compile alike. */
static void set_late_compiles(struct sp_metrics *e, const struct sp_training *training)
{
	uint64_t most = 0;

	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_steps *s = &training->trainers[t].steps;
		uint64_t compiles = 0;

		for (uint32_t i = s->count / 2; i < s->count; i++)
			compiles += s->steps[i].account.ns[SP_ACCOUNT_compile] > 0;
		most = compiles > most ? compiles : most;
	}
	if (e->of[SP_METRIC_compile_share].is_known)
		sp_metrics_set(e, SP_METRIC_late_compiles, (double)most);
}

struct loader_waits {
	double ns[SP_STEP_PASSES];
	uint64_t steps[SP_STEP_PASSES + 1]; /* with so many loaders */
};

static void add_loader_waits(struct loader_waits *w, const struct sp_training *training,
			     const struct sp_trainer *trainer)
{
	for (uint32_t i = 0; i < trainer->steps.count; i++) {
		const struct sp_step *step = &trainer->steps.steps[i];

		if (!sp_step_is_selected(training, trainer, i))
			continue;
		w->steps[step->loaders]++;
		for (uint32_t k = 0; step->loaders > 1 && k < step->loaders; k++)
			w->ns[k] += (double)step->loader_ns[k];
	}
}

/* The number of loaders that gave most steps a batch. */
static uint32_t usual_loaders(const struct loader_waits *w)
{
	uint64_t all = 0;

	for (uint32_t n = 0; n <= SP_STEP_PASSES; n++)
		all += w->steps[n];
	for (uint32_t n = 2; n <= SP_STEP_PASSES; n++)
		if (2 * w->steps[n] > all)
			return n;
	return 0;
}

static void set_loaders(struct sp_metrics *e, const struct sp_training *training)
{
	struct sp_metric *slow = &e->of[SP_METRIC_slow_loader];
	struct loader_waits w = {.ns = {0}};
	uint32_t count, slowest = 0;
	double all = 0;

	for (uint32_t t = 0; t < training->count; t++)
		add_loader_waits(&w, training, &training->trainers[t]);
	count = usual_loaders(&w);
	for (uint32_t k = 0; k < count; k++) {
		all += w.ns[k];
		slowest = w.ns[k] > w.ns[slowest] ? k : slowest;
	}
	if (count == 0 || all <= 0)
		return;
	sp_metrics_ratio(e, SP_METRIC_slow_loader_share, w.ns[slowest], all);
	/* Translators: the number of a loader; the number of loaders. */
	snprintf(slow->text, sizeof(slow->text), _("loader %u of the %u that a step asks in turn"),
		 slowest + 1, count);
	slow->is_known = true;
}

void sp_metrics_job(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_metadata *m = &report->run.metadata;

	e->is_keras_on_torch = sp_metadata_has_coverage(m, "keras-backend\tbound\ttorch");
	set_external_memory(e, report);
	set_division(e, report);
	set_late_compiles(e, &report->training);
	set_loader_ways(e, report);
	set_loaders(e, &report->training);
}
