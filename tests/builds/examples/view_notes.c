/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#define COLUMNS(X) X("note", N_("note"), TEXT, sp_cell_bytes(text, bytes))

static const struct sp_column columns[] = {COLUMNS(SP_COLUMN)};

SP_VALUE(by_number, struct sp_string_table, UINT64_MAX - i) /* greatest first */

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	size_t bytes;
	const char *text = sp_string_table_text(context, i + 1, &bytes); /* 0 is the empty text */
	const struct sp_cell cells[] = {COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

int sp_view_notes(const struct sp_report *report, struct sp_out *out,
		  const struct sp_view_options *options)
{
	const struct sp_string_table *notes = &report->run.metadata.notes.names;
	struct sp_view_rows rows = {"notes",
				    SP_COLUMNS_OF(columns),
				    .count = notes->count ? notes->count - 1 : 0,
				    .value = by_number,
				    .show = show_row,
				    .context = notes};

	return sp_view_sorted_show(&rows, report, out, options);
}
