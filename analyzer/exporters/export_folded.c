/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: "thread;range;call NANOSECONDS", own time, for flamegraph.pl and speedscope.
 * Separators of frames and lines are escaped in names.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/exporters/export.h"
#include "analyzer/text/text.h"

#define FRAME_BYTES 1024u
#define STACK_BYTES (FRAME_BYTES * (RANGES_DEPTH_MAX + 2u))

struct folding {
	struct sp_export *export;
	struct sp_range_tree tree;
	size_t used;
	char stack[STACK_BYTES];
};

/* Adds a frame; a long name is cut. */
static void push(struct folding *f, const char *name, size_t bytes)
{
	char frame[FRAME_BYTES / 4];

	sp_text_escape(frame, sizeof(frame), name, bytes);
	if (f->used)
		f->stack[f->used++] = ';';
	for (const char *p = frame; *p; p++) {
		if (*p == ';')
			f->used += (size_t)sprintf(f->stack + f->used, "\\x3B");
		else
			f->stack[f->used++] = *p;
	}
	f->stack[f->used] = '\0';
}

static void push_node(struct folding *f, const struct sp_range_node *node)
{
	char room[SP_RECORD_NAME_BYTES];
	struct sp_record record = {.kind = node->kind};
	const char *name;
	size_t bytes;

	if (node->kind == 0) {
		push(f, "(others)", 8);
		return;
	}
	if (node->label != SP_STRINGS_REST) {
		name = sp_string_table_text(&f->export->report->run.metadata.labels, node->label,
					    &bytes);
		name = sp_label_spaced(room, name, &bytes);
		push(f, name, bytes);
		return;
	}
	name = sp_record_kind(&record, room);
	push(f, name, strlen(name));
}

/* Recursion: RANGES_DEPTH_MAX. */
static void write_node(struct folding *f, uint32_t i)
{
	const struct sp_range_node *node = &f->tree.nodes[i];
	size_t before = f->used;

	push_node(f, node);
	if (node->total_ns > node->inside_ns)
		fprintf(f->export->file, "%s %" PRIu64 "\n", f->stack,
			node->total_ns - node->inside_ns);
	for (uint32_t child = node->child; child; child = f->tree.nodes[child].sibling)
		write_node(f, child);
	f->used = before;
	f->stack[before] = '\0';
}

static void push_thread(struct folding *f, uint32_t stream)
{
	const struct sp_report *report = f->export->report;
	const struct sp_stream *s = report->run.index.streams[stream];
	char name[128];
	int n = snprintf(name, sizeof(name), "%s %" PRIu32 "/%" PRIu32,
			 sp_run_thread_name(&report->run, stream),
			 report->run.index.images[s->image].pid, s->tid);

	f->used = 0;
	push(f, name, (size_t)n < sizeof(name) ? (size_t)n : sizeof(name) - 1);
}

static int write_stream(struct folding *f, uint32_t stream)
{
	const struct sp_report *report = f->export->report;
	struct sp_range_request request = {&f->tree, SP_RANGES_AND_CALLS};
	int r = sp_ranges_read_stream(&request, &report->training, stream);

	if (r == 0) {
		push_thread(f, stream);
		for (uint32_t i = f->tree.nodes[0].child; i; i = f->tree.nodes[i].sibling)
			write_node(f, i);
	}
	sp_ranges_finish(&f->tree);
	sp_progress_add(f->export->progress, report->totals.streams[stream].events);
	return r == 0 && ferror(f->export->file) ? -EIO : r;
}

/* Stacks belong to threads. Work of a GPU lies in the stream of no thread and is left out. */
int sp_export_folded(struct sp_export *export)
{
	struct folding f = {.export = export};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < export->report->run.index.stream_count; i++)
		if (sp_run_selects(&export->report->run, i) &&
		    export->report->run.index.streams[i]->tid)
			r = write_stream(&f, i);
	return r;
}
