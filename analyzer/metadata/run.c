/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/run.h"

#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/metadata/thread_about.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/reader/index_read.h"

const struct sp_host *sp_run_host(const struct sp_run *run, uint32_t stream)
{
	return &run->index.hosts[sp_run_image(run, stream)->host];
}

bool sp_run_selects(const struct sp_run *run, uint32_t stream)
{
	const struct sp_selection *selection = &run->selection;
	const struct sp_stream *s = run->index.streams[stream];

	return (!selection->pid || selection->pid == run->index.images[s->image].pid) &&
	       (!selection->tid || selection->tid == s->tid);
}

/* The run begins with the first of all its files, whatever is selected: with its marker where no
 * other file can be read. */
static void find_begin(struct sp_run *run)
{
	const struct sp_index *index = &run->index;
	bool found = false;

	for (uint32_t i = index->marked_from; !run->begin_ns && i < index->marked_to; i++)
		if (index->files[i].runs)
			run->begin_ns = (int64_t)index->files[i].marker.made_realtime_ns;

	for (uint32_t i = 0; i < index->host_count; i++) {
		const struct sp_clock *clock = &index->hosts[i].clock;
		int64_t begin = sp_clock_realtime_ns(clock, clock->first.ticks);

		if (clock->first.ticks && (!found || begin < run->begin_ns)) {
			run->begin_ns = begin;
			found = true;
		}
	}
}

static bool has_marks(const struct sp_index *index)
{
	return SP_ANY(i, index->stream_count,
		      index->streams[i]->mark.what && !index->streams[i]->has_last);
}

int sp_run_read(struct sp_run *run)
{
	int r = sp_index_read(&run->index, run->jobs);

	if (r < 0)
		return r;
	find_begin(run);
	/* A thread that hangs in a call on a file is reported with the file's name. */
	if (run->naming == SP_NAMING_NONE && has_marks(&run->index))
		run->naming = SP_NAMING_PATH;
	r = sp_metadata_read(&run->metadata, &run->index, run->jobs, run->naming, run->names_max,
			     run->text_bytes ? run->text_bytes : SP_TEXT_BYTES_MAX);
	return r < 0 ? r
		     : sp_thread_abouts_take(&run->metadata, &run->index,
					     run->naming == SP_NAMING_PATH);
}

void sp_run_finish(struct sp_run *run)
{
	sp_metadata_finish(&run->metadata, &run->index);
	sp_index_finish(&run->index);
	free(run->windows);
	run->windows = NULL;
}

static int64_t add_clipped(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

struct sp_time_window sp_run_window(const struct sp_run *run, uint32_t image)
{
	const struct sp_selection *s = &run->selection;
	struct sp_time_window window = {
		.from_ns = s->from_ns == INT64_MIN ? INT64_MIN
						   : add_clipped(run->begin_ns, s->from_ns),
		.to_ns = s->to_ns == INT64_MAX ? INT64_MAX : add_clipped(run->begin_ns, s->to_ns),
	};
	const struct sp_time_window *steps = run->windows ? &run->windows[image] : &window;

	if (steps->from_ns > window.from_ns)
		window.from_ns = steps->from_ns;
	if (steps->to_ns < window.to_ns)
		window.to_ns = steps->to_ns;
	return window;
}

struct sp_tick_range sp_run_span(const struct sp_run *run, uint32_t image)
{
	const struct sp_clock *clock = &run->index.hosts[run->index.images[image].host].clock;
	struct sp_time_window window = sp_run_window(run, image);
	struct sp_tick_range span = {0, UINT64_MAX};

	if (window.from_ns != INT64_MIN)
		span.from_ticks = sp_clock_ticks(clock, window.from_ns);
	if (window.to_ns != INT64_MAX)
		span.to_ticks = sp_clock_ticks(clock, window.to_ns);
	return span;
}

bool sp_run_is_cut(const struct sp_run *run)
{
	return run->windows || run->selection.from_ns != INT64_MIN ||
	       run->selection.to_ns != INT64_MAX;
}

const char *sp_run_thread_name(const struct sp_run *run, uint32_t stream)
{
	const char *name = run->metadata.thread_names[stream];

	return *name ? name : run->index.streams[stream]->comm;
}

bool sp_run_has_trace(const struct sp_run *run)
{
	if (run->index.stream_count)
		return true;

	return SP_ANY(i, run->index.file_count, run->index.files[i].runs);
}
