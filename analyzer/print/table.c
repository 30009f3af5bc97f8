/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/print/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/wrap.h"

#define ROWS_WAITING_MAX 4096u
#define TEXT_BYTES_MAX (16u * 1024u)
#define TEXT_WIDTH_MIN 16u
#define NAME_WIDTH_MIN 40u /* of the first text, which names the row: columns go before it */
#define TITLES_BYTES 1024u
#define GAP 2u
#define GAP_MIN 1u

struct sp_table {
	FILE *file;
	const struct sp_column *columns;
	size_t n;
	unsigned width, gap;
	unsigned name_width_min;
	bool leaves_out, color, head_is_printed;
	unsigned *widths;
	bool *left_out; /* columns that do not fit */
	unsigned char *importance;
	char **cells; /* n for each row */
	size_t rows;
};

static void table_free(struct sp_table *t)
{
	free(t->widths);
	free(t->left_out);
	free(t->importance);
	free(t->cells);
	free(t);
}

struct sp_table *sp_table_create(FILE *file, const struct sp_column *columns, size_t n,
				 const unsigned char *importance, unsigned width, bool leaves_out,
				 bool color)
{
	struct sp_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct sp_table){.file = file,
			       .columns = columns,
			       .n = n,
			       .width = width,
			       .gap = GAP,
			       .name_width_min = NAME_WIDTH_MIN,
			       .leaves_out = leaves_out,
			       .color = color};
	t->widths = calloc(n, sizeof(*t->widths));
	t->left_out = calloc(n, sizeof(*t->left_out));
	t->importance = calloc(n, sizeof(*t->importance));
	t->cells = calloc(ROWS_WAITING_MAX * n, sizeof(*t->cells));
	if (!t->widths || !t->left_out || !t->importance || !t->cells) {
		table_free(t);
		return NULL;
	}
	if (importance)
		memcpy(t->importance, importance, n * sizeof(*t->importance));
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
		snprintf(ret, SP_NUMBER_BYTES, "%.1f%%", cell->share * 100);
		break;
	case SP_CELL_TEXT:
	case SP_CELL_WORD:
	case SP_CELL_CHAIN:
	case SP_CELL_LIST:
		break;
	}
}

char *sp_table_cell(const struct sp_column *column, const struct sp_cell *cell)
{
	char text[TEXT_BYTES_MAX];

	if (cell->is_null)
		return strdup("-");
	if (sp_cell_is_text(column->type))
		sp_text_escape(text, sizeof(text), cell->text, cell->bytes);
	else
		format_number(text, column->type, cell);
	return strdup(text);
}

static void put_padded(struct sp_table *t, size_t i, const char *text, bool is_last)
{
	unsigned have = (unsigned)sp_text_width(text);
	unsigned pad = have < t->widths[i] ? t->widths[i] - have : 0;
	bool left = sp_cell_is_text(t->columns[i].type);

	if (left)
		fprintf(t->file, "%s%*s", text, is_last ? 0 : (int)pad, "");
	else
		fprintf(t->file, "%*s%s", (int)pad, "", text);
}

static bool is_shown(const struct sp_table *t, size_t i)
{
	return t->columns[i].title && !t->left_out[i];
}

static size_t last_column(const struct sp_table *t)
{
	size_t last = 0;

	for (size_t i = 0; i < t->n; i++)
		if (is_shown(t, i))
			last = i;
	return last;
}

static void print_row(struct sp_table *t, char *const *cells)
{
	size_t last = last_column(t);
	unsigned gap = 0;

	for (size_t i = 0; i < t->n; i++) {
		const char *text = cells ? cells[i] : _(t->columns[i].title);

		if (!is_shown(t, i))
			continue;
		fprintf(t->file, "%*s", (int)gap, "");
		put_padded(t, i, text, i == last);
		gap = t->gap;
	}
}

/* The columns by which a row exceeds the width. */
static unsigned excess(const struct sp_table *t)
{
	unsigned total = 0;

	for (size_t i = 0; i < t->n; i++)
		if (is_shown(t, i))
			total += t->widths[i] + (total ? t->gap : 0);
	return t->width && total > t->width ? total - t->width : 0;
}

/* True for a text that may be shortened. */
static bool is_long_text(const struct sp_table *t, size_t i)
{
	return sp_cell_is_text(t->columns[i].type) && t->columns[i].type != SP_CELL_WORD;
}

/* n: no column is a text. */
static size_t name_column(const struct sp_table *t)
{
	size_t i = 0;

	while (i < t->n && !(is_shown(t, i) && is_long_text(t, i)))
		i++;
	return i;
}

static unsigned least_width(const struct sp_table *t, size_t i)
{
	unsigned title = (unsigned)sp_text_width(_(t->columns[i].title));
	unsigned least = i == name_column(t) ? t->name_width_min : TEXT_WIDTH_MIN;

	return title > least ? title : least;
}

/* The widest text column that can be shortened; n where there is none. */
static size_t widest_text(const struct sp_table *t)
{
	size_t widest = t->n;

	for (size_t i = 0; i < t->n; i++)
		if (is_shown(t, i) && is_long_text(t, i) && t->widths[i] > least_width(t, i) &&
		    (widest == t->n || t->widths[i] > t->widths[widest]))
			widest = i;
	return widest;
}

/* Shortens by one column at a time, so that two long texts share the loss. */
static void narrow_texts(struct sp_table *t)
{
	size_t i;

	while (excess(t) && (i = widest_text(t)) < t->n)
		t->widths[i]--;
}

/* A column that is empty in all waiting rows; the name 0 is not empty. */
static bool is_blank(const struct sp_table *t, size_t i)
{
	bool blank = !is_long_text(t, i) && t->columns[i].type != SP_CELL_ID && t->rows > 0;

	for (size_t row = 0; blank && row < t->rows; row++) {
		const char *cell = t->cells[row * t->n + i];

		blank = strcmp(cell, "-") == 0 || (cell[0] == '0' && (!cell[1] || cell[1] == ' '));
	}
	return blank;
}

/* The least important column that may be left out, the rightmost of several; shares stay, because
 * they order the rows. n where there is none. */
static size_t least_important(const struct sp_table *t, bool only_blank)
{
	size_t first = 0, least = t->n;

	while (first < t->n && !is_shown(t, first))
		first++;
	for (size_t i = t->n; i-- > first + 1;)
		if (is_shown(t, i) && !is_long_text(t, i) &&
		    (only_blank ? is_blank(t, i) : t->columns[i].type != SP_CELL_SHARE) &&
		    (least == t->n || t->importance[i] < t->importance[least]))
			least = i;
	return least;
}

static void leave_out(struct sp_table *t, bool only_blank)
{
	size_t i;

	while (excess(t) && (i = least_important(t, only_blank)) < t->n)
		t->left_out[i] = true;
}

/*
 * Shortens texts first, then drops empty columns, then the space between, then numbers by their
 * importance. The text that names a row stays readable until no number is left to drop.
 */
static void fit(struct sp_table *t)
{
	narrow_texts(t);
	if (!t->leaves_out)
		return;
	leave_out(t, true);
	if (excess(t))
		t->gap = GAP_MIN;
	leave_out(t, false);
	t->name_width_min = TEXT_WIDTH_MIN;
	narrow_texts(t);
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

static void shorten(const struct sp_column *column, char *text, size_t width)
{
	if (column->type == SP_CELL_CHAIN)
		sp_text_cut(text, width);
	else if (*text == '/')
		sp_text_shorten_path(text, width);
	else
		sp_text_shorten(text, width);
}

static void print_waiting(struct sp_table *t)
{
	if (!t->rows)
		return;
	print_head(t);
	for (size_t row = 0; row < t->rows; row++) {
		char **cells = &t->cells[row * t->n];

		for (size_t i = 0; i < t->n; i++)
			if (t->width && cells[i] && is_long_text(t, i) &&
			    t->widths[i] >= TEXT_WIDTH_MIN)
				shorten(&t->columns[i], cells[i], t->widths[i]);
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

static void print_wrapped(const struct sp_table *t, const char *text)
{
	while (*text) {
		size_t n = sp_wrap(text, t->width);

		fprintf(t->file, "%.*s\n", (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
}

static void print_left_out(const struct sp_table *t)
{
	const char *between = "";
	char titles[TITLES_BYTES] = "", text[2 * TITLES_BYTES];

	for (size_t i = 0; i < t->n; i++) {
		if (!t->columns[i].title || !t->left_out[i])
			continue;
		strncat(titles, between, sizeof(titles) - strlen(titles) - 1);
		strncat(titles, _(t->columns[i].title), sizeof(titles) - strlen(titles) - 1);
		between = "; ";
	}
	if (!*titles)
		return;
	snprintf(text, sizeof(text), _("left out for lack of width: %s (--width=0 shows all)"),
		 titles);
	print_wrapped(t, text);
}

void sp_table_destroy(struct sp_table *t)
{
	print_waiting(t);
	print_left_out(t);
	table_free(t);
}
