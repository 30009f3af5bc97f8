/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/totals.h"

#include <stdlib.h>

#include "analyzer/reader/clock_convert.h"

int64_t sp_stream_end_ns(const struct sp_run *run, const struct sp_totals *totals, uint32_t stream)
{
	uint64_t last = totals->streams[stream].end_ticks;
	const struct sp_stream *s = run->index.streams[stream];

	return sp_clock_realtime_ns(&sp_run_host(run, stream)->clock,
				    s->last_ticks > last ? s->last_ticks : last);
}

void sp_stream_life(const struct sp_run *run, const struct sp_totals *totals, uint32_t stream,
		    int64_t *ret_begin_ns, int64_t *ret_end_ns)
{
	const struct sp_stream *s = run->index.streams[stream];
	const struct sp_clock *clock = &sp_run_host(run, stream)->clock;
	uint64_t last = totals->streams[stream].end_ticks;
	struct sp_time_window window = sp_run_window(run, s->image);

	last = s->last_ticks > last ? s->last_ticks : last;
	*ret_begin_ns = sp_clock_realtime_ns(clock, s->opened_ticks ? s->opened_ticks : last);
	*ret_end_ns = sp_stream_end_ns(run, totals, stream);
	if (*ret_begin_ns < window.from_ns)
		*ret_begin_ns = window.from_ns;
	if (*ret_end_ns > window.to_ns)
		*ret_end_ns = window.to_ns;
	if (*ret_end_ns < *ret_begin_ns)
		*ret_end_ns = *ret_begin_ns;
}

struct sp_traffic sp_stages_traffic(const struct sp_sums stages[SP_STAGES])
{
	struct sp_traffic t = {.read_bytes = 0};

	for (int i = 0; i < SP_STAGES; i++) {
		enum sp_traffic_way way = sp_stage_traffic((enum sp_stage)i);

		t.read_bytes += way == SP_TRAFFIC_READ ? stages[i].bytes : 0;
		t.written_bytes += way == SP_TRAFFIC_WRITTEN ? stages[i].bytes : 0;
		t.received_bytes += way == SP_TRAFFIC_RECEIVED ? stages[i].bytes : 0;
		t.sent_bytes += way == SP_TRAFFIC_SENT ? stages[i].bytes : 0;
	}
	return t;
}

bool sp_stages_have_cuda(const struct sp_sums *stages)
{
	for (int stage = SP_STAGE_cuda_launch; stage <= SP_STAGE_cuda_free; stage++)
		if (stages[stage].calls)
			return true;
	return false;
}

void sp_totals_finish(struct sp_totals *totals, const struct sp_run *run)
{
	for (uint32_t i = 0; totals->streams && i < run->index.stream_count; i++)
		sp_memory_finish(&totals->streams[i].resident);
	for (uint32_t i = 0; totals->encoded && i < run->index.stream_count; i++)
		free(totals->encoded[i].bytes);
	for (uint32_t i = 0; totals->tops && i < run->index.stream_count; i++)
		free(totals->tops[i].list);
	free(totals->tops);
	free(totals->encoded);
	free(totals->streams);
	free(totals->main_ends_ns);
	sp_partial_sums_finish(&totals->partial);
}
