/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>

#include "analyzer/events/event_record.h"
#include "analyzer/views/run_json.h"

enum {
	AT,
	DUR,
	PID,
	TID,
	EVENT,
	STAGE,
	VALUE,
	INSIDE,
	WIDTH,
	HEIGHT,
	FILE_NAME,
	LABEL,
	COMMUNICATOR,
	HOST_MEMORY,
	TITLE,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[AT] = {"start_ns", N_("start"), SP_CELL_AT_NS},
	[DUR] = {"dur_ns", N_("duration"), SP_CELL_NS},
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[TID] = {"tid", N_("thread"), SP_CELL_ID},
	[EVENT] = {"event", N_("event"), SP_CELL_TEXT},
	[STAGE] = {"stage", N_("stage"), SP_CELL_TEXT},
	[VALUE] = {"value", N_("value"), SP_CELL_SIGNED},
	[INSIDE] = {"inside_ns", NULL, SP_CELL_NS},
	[WIDTH] = {"width", NULL, SP_CELL_ID},
	[HEIGHT] = {"height", NULL, SP_CELL_ID},
	[FILE_NAME] = {"file", NULL, SP_CELL_TEXT},
	[LABEL] = {"label", NULL, SP_CELL_TEXT},	     /* of a range, of a data set */
	[COMMUNICATOR] = {"communicator", NULL, SP_CELL_ID}, /* NCCL's */
	[HOST_MEMORY] = {"host_memory", NULL, SP_CELL_TEXT}, /* of copies */
	[TITLE] = {NULL, N_("file or label"), SP_CELL_TEXT},
};

struct dump {
	const struct sp_report *report;
	struct sp_out *out;
	uint32_t left; /* rows; UINT32_MAX: no limit */
};

static struct sp_cell name_cell(const struct sp_string_table *names, uint32_t number)
{
	size_t bytes;
	const char *text = sp_string_table_text(names, number, &bytes);

	return number == SP_STRINGS_REST ? sp_cell_null() : sp_cell_bytes(text, bytes);
}

static struct sp_cell label_cell(const struct sp_report *report, uint32_t number,
				 char spaced[SP_LABEL_ROOM])
{
	size_t bytes;
	const char *text = sp_string_table_text(&report->run.metadata.labels, number, &bytes);

	text = sp_label_spaced(spaced, text, &bytes);
	return number == SP_STRINGS_REST ? sp_cell_null() : sp_cell_bytes(text, bytes);
}

static void add_image(const struct sp_record *record, struct sp_cell *cells)
{
	cells[INSIDE] = sp_cell_count(record->inside_ns);
	cells[WIDTH] = sp_cell_count(record->width);
	cells[HEIGHT] = sp_cell_count(record->height);
}

static int show_row(void *context, const struct sp_record *record)
{
	struct dump *dump = context;
	const struct sp_report *report = dump->report;
	const struct sp_stream *s = report->run.index.streams[record->stream];
	char room[SP_RECORD_KIND_BYTES], spaced[SP_LABEL_ROOM];
	struct sp_cell cells[CELLS] = {
		[AT] = sp_cell_signed(record->start_ns - report->run.begin_ns),
		[DUR] = sp_cell_count(record->dur_ns),
		[PID] = sp_cell_count(report->run.index.images[s->image].pid),
		[TID] = sp_cell_count(s->tid),
		[EVENT] = sp_cell_text(sp_record_kind(record, room)),
		[STAGE] = sp_cell_text(sp_stage_name(record->stage)),
		[VALUE] = record->value == SP_VALUE_ABANDONED ? sp_cell_null()
							      : sp_cell_signed(record->value),
		[INSIDE] = sp_cell_null(),
		[WIDTH] = sp_cell_null(),
		[HEIGHT] = sp_cell_null(),
		[FILE_NAME] = name_cell(&report->run.metadata.files, record->file),
		[LABEL] = label_cell(report, record->label, spaced),
		[COMMUNICATOR] = sp_record_has_communicator(record) ? sp_cell_count(record->arg)
								    : sp_cell_null(),
		[HOST_MEMORY] = sp_cell_text(sp_record_host_memory(record)),
	};
	int r;

	if (record->has_image)
		add_image(record, cells);
	cells[TITLE] = record->file != SP_STRINGS_REST ? cells[FILE_NAME] : cells[LABEL];
	r = sp_out_row(dump->out, cells);
	if (r < 0 || dump->left == UINT32_MAX)
		return r < 0 ? r : !sp_out_is_open(dump->out);
	return --dump->left == 0 || !sp_out_is_open(dump->out);
}

int sp_view_dump(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct dump dump = {report, out, options->limit};
	int r;

	if (options->sort)
		return -EINVAL;
	sp_run_json(report, out);
	r = sp_out_table(out, "events", NULL, columns, CELLS, true);
	if (r == 0) {
		r = sp_records_read(report, show_row, &dump);
		sp_out_table_end(out);
	}
	return r;
}
