/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/print/csv.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/text/text.h"

#define TEXT_BYTES_MAX (64u * 1024u)

void sp_csv_head(FILE *file, const struct sp_column *columns, size_t n)
{
	const char *comma = "";

	for (size_t i = 0; i < n; i++) {
		if (!columns[i].key)
			continue;
		fprintf(file, "%s%s", comma, columns[i].key);
		comma = ",";
	}
	putc('\n', file);
}

static void put_text(FILE *file, const struct sp_cell *cell)
{
	char safe[TEXT_BYTES_MAX];

	sp_text_escape(safe, sizeof(safe), cell->text, cell->bytes);
	putc('"', file);
	/* TAB and CR start a formula, too. They are escaped by now, so the text before escaping
	 * decides */
	if (cell->bytes && strchr("=+-@\t\r", cell->text[0]) && cell->text[0])
		putc('\'', file);
	for (const char *p = safe; *p; p++) {
		if (*p == '"')
			putc('"', file);
		putc(*p, file);
	}
	putc('"', file);
}

static void put_cell(FILE *file, enum sp_cell_type type, const struct sp_cell *cell)
{
	switch (type) {
	case SP_CELL_TEXT:
	case SP_CELL_WORD:
	case SP_CELL_CHAIN:
	case SP_CELL_LIST:
		put_text(file, cell);
		break;
	case SP_CELL_SIGNED:
	case SP_CELL_AT_NS:
		fprintf(file, "%" PRId64, cell->value);
		break;
	case SP_CELL_SHARE:
		fprintf(file, "%.6f", cell->share);
		break;
	case SP_CELL_COUNT:
	case SP_CELL_ID:
	case SP_CELL_NS:
	case SP_CELL_BYTES:
	case SP_CELL_RATE:
		fprintf(file, "%" PRIu64, cell->count);
		break;
	}
}

void sp_csv_row(FILE *file, const struct sp_column *columns, size_t n, const struct sp_cell *cells)
{
	const char *comma = "";

	for (size_t i = 0; i < n; i++) {
		if (!columns[i].key)
			continue;
		fputs(comma, file);
		comma = ",";
		if (!cells[i].is_null)
			put_cell(file, columns[i].type, &cells[i]);
	}
	putc('\n', file);
}
