/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_turns.h"

#include <stdio.h>

#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"

/* More may hide the greatest cost. Without a DataLoader it may all be waits for batches. */
#define APART_MOST 0.5
#define APART_UNFED 0.2

/* The training of one process. */
struct turns {
	uint32_t threads;
	int64_t start_ns, end_ns;
	uint64_t trained_ns; /* from each thread's first step to its last one */
};

static void add(struct turns *turns, const struct sp_steps *s)
{
	int64_t start_ns = s->steps[0].start_ns, end_ns = s->steps[s->count - 1].end_ns;

	if (!turns->threads++ || start_ns < turns->start_ns)
		turns->start_ns = start_ns;
	turns->end_ns = end_ns > turns->end_ns ? end_ns : turns->end_ns;
	turns->trained_ns += (uint64_t)(end_ns - start_ns);
}

/* The time in which no thread trains. Threads that train at once make it too short, never too
 * long. */
static uint64_t apart_ns(const struct turns *turns)
{
	uint64_t span_ns = (uint64_t)(turns->end_ns - turns->start_ns);

	return turns->threads > 1 && span_ns > turns->trained_ns ? span_ns - turns->trained_ns : 0;
}

/* Trainers are in the order of streams, and those of a process follow each other. */
static uint64_t add_all(const struct sp_report *report, uint32_t *ret_threads)
{
	const struct sp_training *training = &report->training;
	uint32_t image = UINT32_MAX;
	struct turns turns = {0};
	uint64_t ns = 0;

	*ret_threads = 0;
	for (uint32_t i = 0; i < training->count; i++) {
		const struct sp_trainer *t = &training->trainers[i];

		if (!t->steps.count || !t->steps.steps)
			continue;
		if (report->run.index.streams[t->stream]->image != image) {
			ns += apart_ns(&turns);
			turns = (struct turns){0};
			image = report->run.index.streams[t->stream]->image;
		}
		add(&turns, &t->steps);
		*ret_threads = turns.threads > *ret_threads ? turns.threads : *ret_threads;
	}
	return ns + apart_ns(&turns);
}

void sp_metrics_turns(struct sp_metrics *e, const struct sp_training_time *t,
		      const struct sp_report *report)
{
	char share[SP_METRIC_TEXT_BYTES / 2], text[SP_METRIC_TEXT_BYTES];
	uint32_t threads;
	double ns = sp_run_is_cut(&report->run) ? 0 : (double)add_all(report, &threads);

	if (ns <= 0)
		return;
	sp_metrics_ratio(e, SP_METRIC_apart_share, ns, ns + t->total);
	if (e->of[SP_METRIC_cannot_tell].is_known ||
	    sp_metrics_value(e, SP_METRIC_apart_share) < (e->is_unfed ? APART_UNFED : APART_MOST))
		return;
	sp_metric_text(e, SP_METRIC_apart_share, share, sizeof(share));
	snprintf(text, sizeof(text),
		 _("%u threads of a process train in turns, and for %s of the time none of them "
		   "does: they may wait for data or for each other where no step shows it"),
		 threads, share);
	sp_metrics_set_text(e, SP_METRIC_cannot_tell, text);
}
