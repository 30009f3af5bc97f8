/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_ways.h"

#include <stdio.h>

#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/metrics/metrics_job.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/step_stats.h"

/* The framework whose words fit the steps of a run. */
enum trained_by { BY_PYTORCH, BY_JAX, BY_TENSORFLOW, BY_BOOSTER, BY_ANOTHER };

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
	return sp_metrics_has_label(report, "tf.function trace") &&
	       !sp_metrics_has_label(report, "JAX compile");
}

/* PyTorch is often loaded for its DataLoader alone: calls that are whole steps are not its own. A
 * run of an old recorder names no framework. */
static enum trained_by trained_by(const struct sp_metrics *e, const struct sp_report *report)
{
	bool has_backward =
		sp_training_source(&report->training, SP_ACCOUNT_backward) != SP_FROM_NOTHING;
	bool is_any = false;
	struct sp_frameworks f;

	sp_frameworks_read(&report->run.metadata, &f);
	for (int i = 0; i < SP_FRAMEWORKS; i++)
		is_any |= is_loaded(&f, (enum sp_framework_id)i);
	if (has_rounds_only(&report->training))
		return BY_BOOSTER;
	if (f.of[SP_FRAMEWORK_tensorflow].is_partial)
		return BY_TENSORFLOW;
	if (!is_any || (is_loaded(&f, SP_FRAMEWORK_torch) && (has_backward || !e->has_whole_calls)))
		return BY_PYTORCH;
	if (is_loaded(&f, SP_FRAMEWORK_jax) && e->has_whole_calls && !traces_graphs(report))
		return BY_JAX;
	return is_loaded(&f, SP_FRAMEWORK_tensorflow) ? BY_TENSORFLOW : BY_ANOTHER;
}

/* Casts that gradients flow back through: autocast, or by hand. */
static bool casts(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->training.count; i++) {
		uint32_t stream = report->training.trainers[i].stream;

		if (report->run.metadata.images[report->run.index.streams[stream]->image].casts)
			return true;
	}
	return false;
}

/* Programs are compiled for one shape each, and some are kept in a folder. */
static const char *compile_ways(enum trained_by by)
{
	switch (by) {
	case BY_PYTORCH:
		return _(", or mark them dynamic, and keep TORCHINDUCTOR_CACHE_DIR between runs");
	case BY_JAX:
		return _(" (pad a batch that is smaller), and keep JAX_COMPILATION_CACHE_DIR "
			 "between runs");
	case BY_TENSORFLOW:
		return _(", give a tf.function tensors in place of Python numbers, and make it "
			 "once: each new kind of arguments is traced again");
	default:
		return "";
	}
}

static const char *label_ways(const struct sp_report *report)
{
	struct sp_frameworks frameworks;

	sp_frameworks_read(&report->run.metadata, &frameworks);
	return is_loaded(&frameworks, SP_FRAMEWORK_torch) ? "torch.profiler.record_function, "
							    "STAGEPROF_FUNCTIONS=__main__:FUNCTION"
							  : "STAGEPROF_FUNCTIONS=__main__:FUNCTION";
}

static const char *thread_ways(enum trained_by by)
{
	switch (by) {
	case BY_PYTORCH:
		return "OMP_NUM_THREADS, torch.set_num_threads, cv2.setNumThreads(0)";
	case BY_TENSORFLOW:
		return "tf.config.threading, OMP_NUM_THREADS, cv2.setNumThreads(0)";
	case BY_BOOSTER:
		return "nthread, num_threads, n_jobs, OMP_NUM_THREADS";
	default:
		return "OMP_NUM_THREADS, cv2.setNumThreads(0)";
	}
}

static const char *input_ways(enum trained_by by)
{
	switch (by) {
	case BY_PYTORCH:
		return "torch.utils.data.DataLoader: num_workers";
	case BY_JAX:
		return "Grain: worker_count of DataLoader";
	case BY_TENSORFLOW:
		return "tf.data: num_parallel_calls=tf.data.AUTOTUNE in map(), and prefetch()";
	default:
		return "multiprocessing, concurrent.futures";
	}
}

/* The ways of the loader that the trainer used, or else PyTorch's. */
static void set_validation_ways(struct sp_metrics *e)
{
	const struct sp_metric *loader = &e->of[SP_METRIC_loader_ways];
	const char *pytorch = _("Give the DataLoader of validation workers where it has few or "
				"none, keep them where each validation starts new ones");
	char text[SP_METRIC_TEXT_BYTES];

	snprintf(text, sizeof(text), _("Let the loader of validation work ahead (%s)"),
		 loader->text);
	sp_metrics_set_text(e, SP_METRIC_validation_ways, loader->is_known ? text : pytorch);
}

/* The ways to a cheaper model that the job does not go yet. */
static void set_model_ways(struct sp_metrics *e, const struct sp_report *report, enum trained_by by,
			   bool is_compiled)
{
	const struct sp_metadata *m = &report->run.metadata;
	bool is_low =
		sp_metadata_has_coverage(m, "parameters\tbound\tlow precision") || casts(report);
	bool has_first = sp_metadata_has_coverage(m, "parameters\tbound\tchannels first");
	const char *ways[] = {
		is_low ? NULL : N_("mixed precision"),
		is_compiled || by != BY_PYTORCH ? NULL : N_("torch.compile"),
		has_first ? N_("channels_last") : NULL,
		N_("a smaller model"),
	};
	char text[SP_METRIC_TEXT_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? _(", ") : "", _(ways[i]));
	sp_metrics_set_text(e, SP_METRIC_model_ways, text);
}

void sp_metrics_ways(struct sp_metrics *e, const struct sp_report *report, bool is_compiled)
{
	enum trained_by by = trained_by(e, report);
	bool is_pytorch = by == BY_PYTORCH;

	sp_metrics_set_text(e, SP_METRIC_compile_ways, compile_ways(by));
	sp_metrics_set_text(e, SP_METRIC_label_ways, label_ways(report));
	sp_metrics_set_text(e, SP_METRIC_thread_ways, thread_ways(by));
	sp_metrics_set_text(e, SP_METRIC_input_ways, input_ways(by));
	sp_metrics_set_text(e, SP_METRIC_evaluation_ways,
			    is_pytorch ? _(", and without gradients under "
					   "torch.inference_mode()")
				       : "");
	sp_metrics_set_text(e, SP_METRIC_optimizer_ways,
			    is_pytorch ? _(" foreach=True or fused=True where it has them,") : "");
	set_validation_ways(e);
	set_model_ways(e, report, by, is_compiled);
}
