/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_turns.h"

#include "analyzer/report/report.h"

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
uint64_t sp_turns_apart_ns(const struct sp_report *report, uint32_t *ret_threads)
{
	const struct sp_training *training = &report->training;
	uint32_t image = UINT32_MAX;
	struct turns turns = {0};
	uint64_t ns = 0;

	*ret_threads = 0;
	for (uint32_t i = 0; i < training->count && !sp_run_is_cut(&report->run); i++) {
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
