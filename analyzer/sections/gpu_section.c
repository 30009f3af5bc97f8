/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/gpu_section.h"

#include <string.h>

#include "analyzer/sections/section_json.h"
#include "analyzer/text/text.h"
#include "analyzer/training/step_stats.h"

/* Unknown work may run between graphs that are steps, so that time is not idle. */
static void show_json(const struct sp_report *report, struct sp_out *out,
		      const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	uint64_t rest_ns = gpu ? gpu->wall_ns - gpu->busy_ns : 0;
	bool is_graph = sp_training_end(&report->training) == SP_STEP_BY_GRAPH;
	struct sp_json *j = &out->json;

	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(j, "gpu_time", '{');
	sp_section_count(out, "busy_ns", gpu != NULL, gpu ? gpu->busy_ns : 0);
	sp_section_count(out, "graph_ns", gpu != NULL, gpu ? gpu->graph_ns : 0);
	sp_section_count(out, "idle_ns", gpu && !is_graph, rest_ns);
	sp_section_count(out, "not_in_graph_ns", gpu && is_graph, rest_ns);
	sp_section_count(out, "lost_wait_ns", gpu != NULL, gpu ? gpu->lost_wait_ns : 0);
	sp_section_count(out, "hidden_wait_ns", gpu != NULL, gpu ? gpu->hidden_wait_ns : 0);
	sp_section_count(out, "queued_mean_ns", gpu != NULL, gpu ? gpu->queued_ns / gpu->spans : 0);
	sp_section_count(out, "spans", gpu != NULL, gpu ? gpu->spans : 0);
	sp_section_count(out, "spans_given_up", gpu != NULL, dropped);
	if (gpu)
		sp_json_null(j, "reason");
	else
		sp_json_string(j, "reason",
			       sp_gpu_time_missing(&report->training, report->totals.stages),
			       strlen(sp_gpu_time_missing(&report->training,
							  report->totals.stages)));
	sp_json_close(j, '}');
}

static void busy_lines(struct sp_out *out, const struct sp_gpu_sums *gpu)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_out_line(out,
		    "GPU        busy at most %s of %s in steps, idle at least %s: gaps in a phase "
		    "are "
		    "not seen",
		    sp_text_ns(a, gpu->busy_ns), sp_text_ns(b, gpu->wall_ns),
		    sp_text_ns(c, gpu->wall_ns - gpu->busy_ns));
	sp_out_line(out, "           of the input wait %s lost: nothing ran; %s hidden by work",
		    sp_text_ns(a, gpu->lost_wait_ns), sp_text_ns(b, gpu->hidden_wait_ns));
}

static void graph_lines(struct sp_out *out, const struct sp_gpu_sums *gpu)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_out_line(out, "GPU        in graphs %s of %s in steps, in none %s",
		    sp_text_ns(a, gpu->busy_ns), sp_text_ns(b, gpu->wall_ns),
		    sp_text_ns(c, gpu->wall_ns - gpu->busy_ns));
	sp_out_line(out, "           copies and kernels between graphs are not timed: in no graph "
			 "is not idle");
	sp_out_line(out,
		    "           of the input wait %s with no graph running; %s hidden by graphs",
		    sp_text_ns(a, gpu->lost_wait_ns), sp_text_ns(b, gpu->hidden_wait_ns));
}

static void show_lines(const struct sp_report *report, struct sp_out *out,
		       const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	char a[SP_NUMBER_BYTES];

	if (!gpu)
		return;
	if (sp_training_end(&report->training) == SP_STEP_BY_GRAPH)
		graph_lines(out, gpu);
	else
		busy_lines(out, gpu);
	if (gpu->graph_ns)
		sp_out_line(out,
			    "           %s of the row other are CUDA graphs: forward, backward and "
			    "optimizer in one",
			    sp_text_ns(a, gpu->graph_ns));
	if (dropped)
		sp_out_line(out,
			    "           %s stretches of work could not be timed: all this is too "
			    "low",
			    sp_text_count(a, dropped));
}

void sp_gpu_section(const struct sp_report *report, struct sp_out *out,
		    const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	show_json(report, out, gpu, dropped);
	show_lines(report, out, gpu, dropped);
}

void sp_gpu_work_section(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_gpu_work *work = &report->gpu_work;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	if (!sp_gpu_work_is_known(report->totals.stages) || !(report->needs & SP_NEEDS_GPU_WORK))
		return; /* work that was not read is not 0 */
	if (work->training_ns)
		sp_out_line(out,
			    "gpu        busy %.1f%% of the time of training, with %s kernels "
			    "(CUPTI)",
			    100 * (double)work->inside_ns / (double)work->training_ns,
			    sp_text_count(a, work->kernels));
	else
		sp_out_line(out, "gpu        busy for %s, with %s kernels (CUPTI)",
			    sp_text_ns(a, work->busy_ns), sp_text_count(b, work->kernels));
	if (work->lost)
		sp_out_line(out, "           %s kernels and copies were not reported",
			    sp_text_count(a, work->lost));
	if (out->format == SP_FORMAT_JSON) {
		sp_json_open(&out->json, "gpu", '{');
		sp_json_count(&out->json, "kernels", work->kernels);
		sp_json_count(&out->json, "busy_ns", work->busy_ns);
		sp_json_count(&out->json, "training_busy_ns", work->inside_ns);
		sp_json_count(&out->json, "training_ns", work->training_ns);
		sp_json_count(&out->json, "work_lost", work->lost);
		sp_json_close(&out->json, '}');
	}
}
