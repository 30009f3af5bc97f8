#include "analyzer/thread_end.h"

#include <stdlib.h>

#include "analyzer/report.h"

/* Destructors of libraries, and other threads, go on while a process ends. A main thread that left by pthread_exit
 * leaves the others behind for longer. */
#define EXIT_NS INT64_C(1000000000)

int64_t *sp_main_ends_find(const struct sp_report *report)
{
	const struct sp_index *index = &report->index;
	int64_t *ends = malloc((index->image_count + 1) * sizeof(*ends));

	for (uint32_t i = 0; ends && i < index->image_count; i++)
		ends[i] = INT64_MIN;
	for (uint32_t i = 0; ends && i < index->stream_count; i++) {
		const struct sp_stream *s = index->streams[i];
		int64_t begin, end;

		if (!s->has_last || s->tid != index->images[s->image].pid)
			continue;
		sp_report_life(report, i, &begin, &end);
		if (end > ends[s->image])
			ends[s->image] = end;
	}
	return ends;
}

enum sp_thread_end sp_thread_end_of(const struct sp_report *report, uint32_t stream)
{
	const struct sp_stream *s = report->index.streams[stream];
	int64_t main_end = report->main_ends_ns[s->image], begin, end;

	if (s->has_last)
		return SP_THREAD_END_CLEAN;
	sp_report_life(report, stream, &begin, &end);
	if (main_end == INT64_MIN || end > main_end + EXIT_NS)
		return SP_THREAD_END_NONE;
	return SP_THREAD_END_WITH_PROCESS;
}
