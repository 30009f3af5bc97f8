/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/inflight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/reader/call_paths.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/text/text.h"
#include "analyzer/totals/thread_end.h"
#include "analyzer/views/view.h"

#define LINES_MAX 10u

uint64_t sp_inflight_ns(const struct sp_report *report, uint32_t i)
{
	const struct sp_stream *s = report->run.index.streams[i];
	const struct sp_host *host =
		&report->run.index.hosts[report->run.index.images[s->image].host];
	int64_t start;

	if (!s->mark.what || !sp_run_selects(&report->run, i) ||
	    sp_thread_end_of(&report->run, &report->totals, i) != SP_THREAD_END_NONE)
		return 0;
	start = sp_clock_realtime_ns(&host->clock, s->mark.start_ticks);
	return start < report->totals.end_ns ? (uint64_t)(report->totals.end_ns - start) : 1;
}

static uint64_t by_time(const void *report, uint32_t i)
{
	return sp_inflight_ns(report, i);
}

static const char *file_of(const struct sp_report *report, const struct sp_stream *s,
			   size_t *ret_bytes)
{
	const struct sp_event_info *info = sp_event_info(sp_commit_kind(s->mark.what));
	uint32_t number = SP_STRINGS_REST;

	if (s->mark_path) {
		*ret_bytes = strlen(s->mark_path);
		return s->mark_path;
	}
	if (info->arg == SP_ARG_FILE && report->run.naming == SP_NAMING_PATH)
		number = sp_process_file(&report->run.metadata.images[s->image],
					 sp_commit_arg(s->mark.what));
	return sp_string_table_text(&report->run.metadata.files, number, ret_bytes);
}

static const char *event_name(const struct sp_stream *s)
{
	const char *name = sp_event_info(sp_commit_kind(s->mark.what))->name;

	return name ? name : "a call of a newer version";
}

static void show_line(const struct sp_report *report, struct sp_out *out, uint32_t i)
{
	const struct sp_stream *s = report->run.index.streams[i];
	char path[512], a[SP_NUMBER_BYTES];
	size_t bytes;
	const char *file = file_of(report, s, &bytes), *why;

	sp_text_escape(path, sizeof(path), file, bytes);
	sp_text_ns(a, sp_inflight_ns(report, i));
	why = sp_path_missing_text(s->path_missing);
	if (bytes)
		sp_out_line(out,
			    "in flight: thread %u of process %u was inside %s of %s for %s when "
			    "the trace ends",
			    s->tid, report->run.index.images[s->image].pid, event_name(s), path, a);
	else
		sp_out_line(out,
			    "in flight: thread %u of process %u was inside %s for %s when the "
			    "trace ends",
			    s->tid, report->run.index.images[s->image].pid, event_name(s), a);
	if (!bytes && why)
		sp_out_line(out, "%s", why);
}

static void put_missing(struct sp_json *j, enum sp_path_missing missing)
{
	const char *name = sp_path_missing_name(missing);

	if (name)
		sp_json_string(j, "file_missing", name, strlen(name));
	else
		sp_json_null(j, "file_missing");
}

static void show_json(const struct sp_report *report, struct sp_json *j, uint32_t i)
{
	const struct sp_stream *s = report->run.index.streams[i];
	size_t bytes;
	const char *file = file_of(report, s, &bytes);

	sp_json_open(j, NULL, '{');
	sp_json_count(j, "pid", report->run.index.images[s->image].pid);
	sp_json_count(j, "tid", s->tid);
	sp_json_string(j, "event", event_name(s), strlen(event_name(s)));
	if (bytes)
		sp_json_string(j, "file", file, bytes);
	else
		sp_json_null(j, "file");
	put_missing(j, s->path_missing);
	sp_json_count(j, "dur_ns", sp_inflight_ns(report, i));
	sp_json_close(j, '}');
}

int sp_inflight_show(const struct sp_report *report, struct sp_out *out)
{
	uint32_t *order = sp_order_by(report->run.index.stream_count, by_time, report);

	if (!order)
		return -ENOMEM;
	if (out->format == SP_FORMAT_JSON)
		sp_json_open(&out->json, "in_flight", '[');
	for (uint32_t n = 0; n < report->run.index.stream_count; n++) {
		if (sp_inflight_ns(report, order[n]) == 0)
			break;
		if (out->format == SP_FORMAT_JSON)
			show_json(report, &out->json, order[n]);
		else if (n < LINES_MAX)
			show_line(report, out, order[n]);
	}
	if (out->format == SP_FORMAT_JSON)
		sp_json_close(&out->json, ']');
	free(order);
	return 0;
}
