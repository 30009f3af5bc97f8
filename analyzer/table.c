#include "analyzer/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text.h"
#include "analyzer/translate.h"

#define ROWS_WAITING_MAX 4096u
#define TEXT_BYTES_MAX (16u * 1024u)
#define TEXT_WIDTH_MIN 16u
#define GAP 2u

struct sp_table {
	FILE *file;
	const struct sp_column *columns;
	size_t n;
	unsigned width;
	bool color, head_is_printed;
	unsigned *widths;
	char **cells; /* n for each row */
	size_t rows;
};

struct sp_table *sp_table_create(FILE *file, const struct sp_column *columns, size_t n,
				 unsigned width, bool color)
{
	struct sp_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct sp_table){file, columns, n, width, color, false, NULL, NULL, 0};
	t->widths = calloc(n, sizeof(*t->widths));
	t->cells = calloc(ROWS_WAITING_MAX * n, sizeof(*t->cells));
	if (!t->widths || !t->cells) {
		free(t->widths);
		free(t->cells);
		free(t);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		t->widths[i] = columns[i].title ? (unsigned)sp_text_width(_(columns[i].title)) : 0;
	return t;
}

static void format_at(char ret[SP_NUMBER_BYTES], int64_t ns)
{
	snprintf(ret, SP_NUMBER_BYTES, "%.6f s", (double)ns / 1e9);
}

static void format_number(char ret[SP_NUMBER_BYTES], enum sp_cell_type type,
			  const struct sp_cell *cell)
{
	switch (type) {
	case SP_CELL_COUNT:
		sp_text_count(ret, cell->count);
		break;
	case SP_CELL_ID:
		snprintf(ret, SP_NUMBER_BYTES, "%" PRIu64, cell->count);
		break;
	case SP_CELL_SIGNED:
		snprintf(ret, SP_NUMBER_BYTES, "%" PRId64, cell->value);
		break;
	case SP_CELL_AT_NS:
		format_at(ret, cell->value);
		break;
	case SP_CELL_NS:
		sp_text_ns(ret, cell->count);
		break;
	case SP_CELL_BYTES:
		sp_text_bytes(ret, cell->count);
		break;
	case SP_CELL_RATE:
		snprintf(ret, SP_NUMBER_BYTES, cell->count < 100000000 ? "%.1f" : "%.0f",
			 (double)cell->count / 1e6);
		break;
	case SP_CELL_SHARE:
		snprintf(ret, SP_NUMBER_BYTES, "%.1f %%", cell->share * 100);
		break;
	case SP_CELL_TEXT:
		break;
	}
}

char *sp_table_cell(const struct sp_column *column, const struct sp_cell *cell)
{
	char text[TEXT_BYTES_MAX];

	if (cell->is_null)
		return strdup("-");
	if (column->type == SP_CELL_TEXT)
		sp_text_escape(text, sizeof(text), cell->text, cell->bytes);
	else
		format_number(text, column->type, cell);
	return strdup(text);
}

static void put_padded(struct sp_table *t, size_t i, const char *text, bool is_last)
{
	unsigned have = (unsigned)sp_text_width(text);
	unsigned pad = have < t->widths[i] ? t->widths[i] - have : 0;
	bool left = t->columns[i].type == SP_CELL_TEXT;

	if (left)
		fprintf(t->file, "%s%*s", text, is_last ? 0 : (int)pad, "");
	else
		fprintf(t->file, "%*s%s", (int)pad, "", text);
}

static size_t last_column(const struct sp_table *t)
{
	size_t last = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->columns[i].title)
			last = i;
	return last;
}

static void print_row(struct sp_table *t, char *const *cells)
{
	size_t last = last_column(t);
	const char *gap = "";

	for (size_t i = 0; i < t->n; i++) {
		const char *text = cells ? cells[i] : _(t->columns[i].title);

		if (!t->columns[i].title)
			continue;
		fprintf(t->file, "%s", gap);
		put_padded(t, i, text, i == last);
		gap = "  ";
	}
}

/* Takes columns from the widest text until the row fits the terminal. */
static void fit(struct sp_table *t)
{
	unsigned total = 0;
	size_t widest = t->n;

	for (size_t i = 0; i < t->n; i++) {
		if (!t->columns[i].title)
			continue;
		total += t->widths[i] + GAP;
		if (t->columns[i].type == SP_CELL_TEXT &&
		    (widest == t->n || t->widths[i] > t->widths[widest]))
			widest = i;
	}
	total -= total ? GAP : 0;
	if (t->width == 0 || total <= t->width || widest == t->n)
		return;
	total -= t->width;
	if (t->widths[widest] > total + TEXT_WIDTH_MIN)
		t->widths[widest] -= total;
	else if (t->widths[widest] > TEXT_WIDTH_MIN)
		t->widths[widest] = TEXT_WIDTH_MIN;
}

static void print_head(struct sp_table *t)
{
	if (t->head_is_printed)
		return;
	t->head_is_printed = true;
	fit(t);
	fputs(t->color ? "\033[1m" : "", t->file);
	print_row(t, NULL);
	fputs(t->color ? "\033[0m\n" : "\n", t->file);
}

static void print_waiting(struct sp_table *t)
{
	print_head(t);
	for (size_t row = 0; row < t->rows; row++) {
		char **cells = &t->cells[row * t->n];

		for (size_t i = 0; i < t->n; i++)
			if (t->width && cells[i] && t->columns[i].type == SP_CELL_TEXT &&
			    t->widths[i] >= TEXT_WIDTH_MIN)
				sp_text_shorten(cells[i], t->widths[i]);
		print_row(t, cells);
		putc('\n', t->file);
		for (size_t i = 0; i < t->n; i++)
			free(cells[i]);
	}
	t->rows = 0;
}

int sp_table_row(struct sp_table *t, const struct sp_cell *cells)
{
	char **row = &t->cells[t->rows * t->n];

	for (size_t i = 0; i < t->n; i++) {
		unsigned width;

		row[i] = t->columns[i].title ? sp_table_cell(&t->columns[i], &cells[i]) : NULL;
		if (!t->columns[i].title)
			continue;
		if (!row[i])
			return -ENOMEM;
		width = (unsigned)sp_text_width(row[i]);
		if (!t->head_is_printed && width > t->widths[i])
			t->widths[i] = width;
	}
	if (++t->rows == ROWS_WAITING_MAX)
		print_waiting(t);
	return 0;
}

void sp_table_destroy(struct sp_table *t)
{
	print_waiting(t);
	free(t->widths);
	free(t->cells);
	free(t);
}
