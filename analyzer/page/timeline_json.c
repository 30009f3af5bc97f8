/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/page/timeline_json.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"
#include "analyzer/text/text.h"

#define NAMES_MAX 1500u
#define NAME_WIDTH_MAX 100u
#define NAME_BYTES (16u * 1024u)
#define NO_NAME 0u

/*
 * Names of the kept events; the first is "", for events without a name or without room for it.
 */
struct name_list {
	struct {
		uint32_t number;
		bool is_file;
	} list[NAMES_MAX];
	uint32_t count;
};

static uint32_t name_index(struct name_list *names, bool is_file, uint32_t number)
{
	for (uint32_t i = 1; i < names->count; i++)
		if (names->list[i].number == number && names->list[i].is_file == is_file)
			return i;
	if (names->count == NAMES_MAX)
		return NO_NAME;
	names->list[names->count].number = number;
	names->list[names->count].is_file = is_file;
	return names->count++;
}

static uint32_t name_of(struct name_list *names, const struct sp_report *report, uint32_t image,
			const struct sp_timeline_event *e)
{
	const struct sp_process_metadata *process = &report->run.metadata.images[image];
	enum sp_arg arg = sp_event_info(e->kind)->arg;
	uint32_t number = SP_STRINGS_REST;

	if (arg == SP_ARG_FILE)
		number = sp_process_file(process, e->arg);
	else if (arg == SP_ARG_NAME)
		number = sp_process_label(process, e->arg);
	return number == SP_STRINGS_REST ? NO_NAME : name_index(names, arg == SP_ARG_FILE, number);
}

static uint32_t stage_of(const struct sp_report *report, uint32_t image,
			 const struct sp_timeline_event *e)
{
	const struct sp_event_info *info = sp_event_info(e->kind);
	enum sp_fd_kind place = SP_FD_KIND_UNKNOWN;

	if (info->arg == SP_ARG_FILE)
		place = sp_process_fd_kind(&report->run.metadata.images[image], e->arg);
	else if (info->name && info->class == SP_CLASS_CUDA_COPY)
		place = sp_fd_kind_of_copy(e->arg);
	return sp_stage_of(e->kind, place);
}

SP_ORDER(by_start, struct sp_timeline_event, SP_UP(start_ns) ?: SP_DOWN(dur_ns))

/* [start_ns, dur_ns, kind, stage, name, value] */
static void events_json(const struct sp_report *report, struct sp_json *j, const char *key,
			const struct sp_lane *lane, const struct sp_longest *l,
			struct name_list *names)
{
	uint32_t image = report->run.index.streams[lane->stream]->image;

	qsort(l->events, l->count, sizeof(*l->events), by_start);
	sp_json_open(j, key, '[');
	for (uint32_t i = 0; i < l->count; i++) {
		const struct sp_timeline_event *e = &l->events[i];

		sp_json_open(j, NULL, '[');
		sp_json_signed(j, NULL, e->start_ns - report->run.begin_ns);
		sp_json_count(j, NULL, e->dur_ns);
		sp_json_count(j, NULL, e->kind);
		sp_json_count(j, NULL, stage_of(report, image, e));
		sp_json_count(j, NULL, name_of(names, report, image, e));
		if (e->value == SP_VALUE_ABANDONED)
			sp_json_null(j, NULL);
		else
			sp_json_signed(j, NULL, e->value);
		sp_json_close(j, ']');
	}
	sp_json_close(j, ']');
}

static void lane_json(const struct sp_report *report, struct sp_json *j, const struct sp_lane *lane,
		      struct name_list *names)
{
	static const char *const roles[] = {"trainer", "worker", "thread"};
	const struct sp_stream *stream = report->run.index.streams[lane->stream];
	const char *name = report->run.metadata.thread_names[lane->stream];
	int64_t begin, end;

	name = *name ? name : stream->comm;
	sp_stream_life(&report->run, &report->totals, lane->stream, &begin, &end);
	sp_json_open(j, NULL, '{');
	sp_json_string(j, "role", roles[lane->role], strlen(roles[lane->role]));
	sp_json_count(j, "pid", report->run.index.images[stream->image].pid);
	sp_json_count(j, "tid", stream->tid);
	sp_json_string(j, "name", name, strnlen(name, 64));
	sp_json_signed(j, "start_ns", begin - report->run.begin_ns);
	sp_json_signed(j, "end_ns", end - report->run.begin_ns);
	sp_json_count(j, "inside_seen", lane->inside.seen);
	sp_json_count(j, "outside_seen", lane->outside.seen);
	events_json(report, j, "inside", lane, &lane->inside, names);
	events_json(report, j, "outside", lane, &lane->outside, names);
	sp_json_close(j, '}');
}

/* Labels of modules and slow lines have tabs between their fields. */
static void name_json(struct sp_json *j, const char *text, size_t bytes)
{
	char spaced[SP_NAME_BYTES_MAX], shown[NAME_BYTES];

	while (bytes && *text == '\t') {
		text++;
		bytes--;
	}
	bytes = bytes < sizeof(spaced) ? bytes : sizeof(spaced);
	for (size_t i = 0; i < bytes; i++)
		spaced[i] = text[i] == '\t' ? ' ' : text[i];
	sp_text_escape(shown, sizeof(shown), spaced, bytes);
	if (*shown == '/')
		sp_text_shorten_path(shown, NAME_WIDTH_MAX);
	else
		sp_text_shorten(shown, NAME_WIDTH_MAX);
	sp_json_string(j, NULL, shown, strlen(shown));
}

static void names_json(const struct sp_report *report, struct sp_json *j,
		       const struct name_list *names)
{
	sp_json_open(j, "names", '[');
	for (uint32_t i = 0; i < names->count; i++) {
		const struct sp_string_table *from = names->list[i].is_file
							     ? &report->run.metadata.files
							     : &report->run.metadata.labels;
		size_t bytes = 0;
		const char *text =
			i ? sp_string_table_text(from, names->list[i].number, &bytes) : "";

		name_json(j, text, bytes);
	}
	sp_json_close(j, ']');
}

static void kinds_json(struct sp_json *j)
{
	sp_json_open(j, "kinds", '{');
#define SP_EVENT(number, name, class, value, arg, extra)                                           \
	sp_json_string(j, #number, #name, strlen(#name));
#include "trace/events.def"
#undef SP_EVENT
	sp_json_close(j, '}');
	sp_json_open(j, "stages", '[');
	for (int i = 0; i < SP_STAGES; i++) {
		const char *name = sp_stage_name((enum sp_stage)i);

		sp_json_string(j, NULL, name, strlen(name));
	}
	sp_json_close(j, ']');
}

static void window_json(const struct sp_timeline *t, const struct sp_report *report,
			struct sp_json *j)
{
	if (t->from_ns == t->to_ns) {
		sp_json_null(j, "window");
		return;
	}
	sp_json_open(j, "window", '{');
	sp_json_signed(j, "start_ns", t->from_ns - report->run.begin_ns);
	sp_json_signed(j, "end_ns", t->to_ns - report->run.begin_ns);
	sp_json_count(j, "first_step", t->first_step);
	sp_json_count(j, "last_step", t->last_step);
	sp_json_count(j, "slowest_step", t->slowest_step);
	sp_json_close(j, '}');
}

void sp_timeline_json(const struct sp_timeline *t, const struct sp_report *report,
		      struct sp_json *j)
{
	struct name_list names = {.count = 1};

	sp_json_open(j, NULL, '{');
	sp_json_signed(j, "wall_ns", report->totals.end_ns - report->run.begin_ns);
	window_json(t, report, j);
	sp_json_count(j, "threads_left_out", t->left_out);
	sp_json_open(j, "lanes", '[');
	for (uint32_t i = 0; i < t->count; i++)
		lane_json(report, j, &t->lanes[i], &names);
	sp_json_close(j, ']');
	names_json(report, j, &names);
	kinds_json(j);
	sp_json_close(j, '}');
}
