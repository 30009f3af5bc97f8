/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/thread_end.h"

#include <stdlib.h>

#include "analyzer/totals/totals.h"

/* Destructors of libraries and other threads go on while a process ends. After a pthread_exit of
 * the main thread, the other threads go on for longer. */
#define EXIT_NS INT64_C(1000000000)

int64_t *sp_main_ends_find(const struct sp_run *run, const struct sp_totals *totals)
{
	const struct sp_index *index = &run->index;
	int64_t *ends = malloc((index->image_count + 1) * sizeof(*ends));

	for (uint32_t i = 0; ends && i < index->image_count; i++)
		ends[i] = INT64_MIN;
	for (uint32_t i = 0; ends && i < index->stream_count; i++) {
		const struct sp_stream *s = index->streams[i];
		int64_t begin, end;

		if (!s->has_last || s->tid != index->images[s->image].pid)
			continue;
		sp_stream_life(run, totals, i, &begin, &end);
		if (end > ends[s->image])
			ends[s->image] = end;
	}
	return ends;
}

enum sp_thread_end sp_thread_end_of(const struct sp_run *run, const struct sp_totals *totals,
				    uint32_t stream)
{
	const struct sp_stream *s = run->index.streams[stream];
	int64_t main_end = totals->main_ends_ns[s->image], begin, end;

	if (s->has_last)
		return SP_THREAD_END_CLEAN;
	sp_stream_life(run, totals, stream, &begin, &end);
	if (main_end == INT64_MIN || end > main_end + EXIT_NS)
		return SP_THREAD_END_NONE;
	return SP_THREAD_END_WITH_PROCESS;
}
