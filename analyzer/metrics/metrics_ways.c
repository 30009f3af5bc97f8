/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_ways.h"

#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"

/* The framework whose words fit the steps of a run. */
enum trained_by { BY_PYTORCH, BY_JAX, BY_TENSORFLOW, BY_BOOSTER, BY_ANOTHER };

#define OTHER_THREADS "OMP_NUM_THREADS, cv2.setNumThreads(0)"
#define OTHER_INPUT "multiprocessing, concurrent.futures"
#define TF_DATA "tf.data: num_parallel_calls=tf.data.AUTOTUNE in map(), and prefetch()"

/* Programs are compiled for one shape each, and some are kept in a folder. */
static const struct sp_ways ways[] = {
	[BY_PYTORCH] = {N_(", or mark them dynamic, and keep TORCHINDUCTOR_CACHE_DIR between runs"),
			"OMP_NUM_THREADS, torch.set_num_threads, cv2.setNumThreads(0)",
			"torch.utils.data.DataLoader: num_workers",
			N_(", and without gradients under torch.inference_mode()"),
			N_(" foreach=True or fused=True where it has them,")},
	[BY_JAX] = {N_(" (pad a batch that is smaller), and keep JAX_COMPILATION_CACHE_DIR between "
		       "runs"),
		    OTHER_THREADS, "Grain: worker_count of DataLoader", "", ""},
	[BY_TENSORFLOW] = {N_(", give a tf.function tensors in place of Python numbers, and make "
			      "it once: each new kind of arguments is traced again"),
			   "tf.config.threading, OMP_NUM_THREADS, cv2.setNumThreads(0)", TF_DATA,
			   "", ""},
	[BY_BOOSTER] = {"", "nthread, num_threads, n_jobs, OMP_NUM_THREADS", OTHER_INPUT, "", ""},
	[BY_ANOTHER] = {"", OTHER_THREADS, OTHER_INPUT, "", ""},
};

/* Loaders of other projects, by the label of their calls, and how each works ahead. */
static const struct loader {
	const char *label, *ways;
} loaders[] = {
	{"grain next", "Grain: worker_count of DataLoader, or mp_prefetch() of a dataset"},
	{"tf.data next", TF_DATA},
	{"tf.distribute next", TF_DATA},
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
	const struct sp_process_metadata *image = sp_trainer_metadata(&report->training, trainer);

	for (uint32_t id = 0; id < image->label_room; id++) {
		size_t bytes;
		const char *text = sp_string_table_text(&report->run.metadata.labels,
							sp_process_label(image, id), &bytes);

		if (bytes == strlen(label) && memcmp(text, label, bytes) == 0)
			return true;
	}
	return false;
}

bool sp_ways_has_label(const struct sp_report *report, const char *label)
{
	return SP_ANY(t, report->training.count, has_label(report, t, label));
}

static bool is_loaded(const struct sp_frameworks *frameworks, enum sp_framework_id id)
{
	return frameworks->of[id].is_loaded;
}

static bool has_rounds_only(const struct sp_training *training)
{
	uint64_t rounds = 0, steps = 0;

	for (uint32_t t = 0; t < training->count; t++) {
		rounds += training->trainers[t].steps.rounds;
		steps += training->trainers[t].steps.optimizer_count;
	}
	return rounds && rounds == steps;
}

/* TensorFlow and Keras import JAX where it is there, and tf.data in front of JAX also traces. */
static bool traces_graphs(const struct sp_report *report)
{
	return sp_ways_has_label(report, "tf.function trace") && !sp_ways_has_label(report, "JAX "
											    "compil"
											    "e");
}

/* PyTorch is often loaded for its DataLoader alone: calls that are whole steps are not its own. A
 * run of an old recorder names no framework. */
static enum trained_by trained_by(const struct sp_metric_sums *m)
{
	bool has_backward = m->time.has[SP_ACCOUNT_backward], has_calls = m->e->has_whole_calls;
	const struct sp_report *report = m->report;
	bool is_any = false;
	struct sp_frameworks f;

	sp_frameworks_read(&report->run.metadata, &f);
	for (int i = 0; i < SP_FRAMEWORKS; i++)
		is_any |= is_loaded(&f, (enum sp_framework_id)i);
	if (has_rounds_only(&report->training))
		return BY_BOOSTER;
	if (f.of[SP_FRAMEWORK_tensorflow].is_partial)
		return BY_TENSORFLOW;
	if (!is_any || (is_loaded(&f, SP_FRAMEWORK_torch) && (has_backward || !has_calls)))
		return BY_PYTORCH;
	if (is_loaded(&f, SP_FRAMEWORK_jax) && has_calls && !traces_graphs(report))
		return BY_JAX;
	return is_loaded(&f, SP_FRAMEWORK_tensorflow) ? BY_TENSORFLOW : BY_ANOTHER;
}

static const char *translated(const char *text)
{
	return *text ? _(text) : "";
}

struct sp_ways sp_ways_of(const struct sp_metric_sums *m)
{
	struct sp_ways w = ways[trained_by(m)];

	w.compile = translated(w.compile);
	w.evaluation = translated(w.evaluation);
	w.optimizer = translated(w.optimizer);
	return w;
}

bool sp_ways_are_pytorch(const struct sp_metric_sums *m)
{
	return trained_by(m) == BY_PYTORCH;
}

const char *sp_ways_to_label(const struct sp_metric_sums *m)
{
	struct sp_frameworks frameworks;

	sp_frameworks_read(&m->report->run.metadata, &frameworks);
	return is_loaded(&frameworks, SP_FRAMEWORK_torch) ? "torch.profiler.record_function, "
							    "STAGEPROF_FUNCTIONS=__main__:FUNCTION"
							  : "STAGEPROF_FUNCTIONS=__main__:FUNCTION";
}

const char *sp_ways_of_loader(const struct sp_metric_sums *m)
{
	for (size_t i = 0; i < LOADERS; i++)
		if (sp_ways_has_label(m->report, loaders[i].label))
			return loaders[i].ways;
	return NULL;
}
