/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/print/out.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "analyzer/print/csv.h"
#include "analyzer/print/md.h"
#include "analyzer/print/table.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/wrap.h"

#define SCHEMA_VERSION 1
#define LINE_BYTES_MAX 4096u

void sp_out_begin(struct sp_out *out)
{
	out->json = (struct sp_json){.file = out->file};
	out->markup = (struct sp_html){.file = out->file};
	out->md = (struct sp_md){.file = out->file};
	out->was_paused = sp_translate_pause(!sp_out_is_read(out));
	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(&out->json, NULL, '{');
	sp_json_count(&out->json, "schema_version", SCHEMA_VERSION);
}

int sp_out_end(struct sp_out *out)
{
	if (out->format == SP_FORMAT_JSON)
		sp_json_close(&out->json, '}');
	if (out->format == SP_FORMAT_HTML)
		sp_html_end(&out->markup);
	sp_translate_pause(out->was_paused);
	return fflush(out->file) != 0 || ferror(out->file) ? -EIO : 0;
}

/* Columns without a key are for people alone. */
static bool has_keys(const struct sp_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (columns[i].key)
			return true;
	return false;
}

int sp_out_table(struct sp_out *out, const char *key, const char *title,
		 const struct sp_column *columns, size_t n, bool is_main)
{
	const unsigned char *importance = out->importance;

	out->importance = NULL;
	out->columns = columns;
	out->column_count = n;
	if (out->table_asked)
		is_main = has_keys(columns, n) && strcmp(out->table_asked, key) == 0;
	out->is_main = is_main;
	out->has_table |= is_main;
	title = sp_translate(title);
	switch (out->format) {
	case SP_FORMAT_JSON:
		sp_json_open(&out->json, key, '[');
		return 0;
	case SP_FORMAT_CSV:
		if (is_main)
			sp_csv_head(out->file, columns, n);
		return 0;
	case SP_FORMAT_HTML:
		sp_html_table(&out->markup, key, title, columns, n);
		return 0;
	case SP_FORMAT_MD:
		sp_md_head(&out->md, title, columns, n);
		return 0;
	case SP_FORMAT_ROWS:
		return out->rows->table(out->rows->context, key, columns, n, is_main);
	case SP_FORMAT_TABLE:
		break;
	}
	if (title)
		sp_out_line(out, "%s", title);
	out->table = sp_table_create(out->file, columns, n, importance, out->width,
				     out->width_is_asked, out->color);
	return out->table ? 0 : -ENOMEM;
}

static void json_list(struct sp_json *j, const char *key, const struct sp_cell *cell)
{
	const char *at = cell->text, *end = cell->text + cell->bytes, *stop;

	sp_json_open(j, key, '[');
	for (; cell->bytes; at = stop + 1) {
		stop = memchr(at, ';', (size_t)(end - at));
		stop = stop ? stop : end;
		if (stop == at)
			sp_json_null(j, NULL);
		else
			sp_json_string(j, NULL, at, (size_t)(stop - at));
		if (stop == end)
			break;
	}
	sp_json_close(j, ']');
}

static void json_cell(struct sp_json *j, const struct sp_column *column, const struct sp_cell *cell)
{
	if (cell->is_null) {
		sp_json_null(j, column->key);
		return;
	}
	switch (column->type) {
	case SP_CELL_TEXT:
	case SP_CELL_WORD:
	case SP_CELL_CHAIN:
		sp_json_string(j, column->key, cell->text, cell->bytes);
		break;
	case SP_CELL_LIST:
		json_list(j, column->key, cell);
		break;
	case SP_CELL_SIGNED:
	case SP_CELL_AT_NS:
		sp_json_signed(j, column->key, cell->value);
		break;
	case SP_CELL_SHARE:
		sp_json_share(j, column->key, cell->share);
		break;
	case SP_CELL_COUNT:
	case SP_CELL_ID:
	case SP_CELL_NS:
	case SP_CELL_BYTES:
	case SP_CELL_RATE:
		sp_json_count(j, column->key, cell->count);
		break;
	}
}

static void json_row(struct sp_out *out, const struct sp_cell *cells)
{
	sp_json_open(&out->json, NULL, '{');
	for (size_t i = 0; i < out->column_count; i++)
		if (out->columns[i].key)
			json_cell(&out->json, &out->columns[i], &cells[i]);
	sp_json_close(&out->json, '}');
}

int sp_out_row(struct sp_out *out, const struct sp_cell *cells)
{
	switch (out->format) {
	case SP_FORMAT_JSON:
		json_row(out, cells);
		return 0;
	case SP_FORMAT_CSV:
		if (out->is_main)
			sp_csv_row(out->file, out->columns, out->column_count, cells);
		return 0;
	case SP_FORMAT_HTML:
		return sp_html_row(&out->markup, out->columns, out->column_count, cells);
	case SP_FORMAT_MD:
		return sp_md_row(&out->md, out->columns, out->column_count, cells);
	case SP_FORMAT_ROWS:
		return out->rows->row(out->rows->context, cells);
	case SP_FORMAT_TABLE:
		break;
	}
	return sp_table_row(out->table, cells);
}

int sp_out_table_end(struct sp_out *out)
{
	if (out->format == SP_FORMAT_JSON)
		sp_json_close(&out->json, ']');
	if (out->format == SP_FORMAT_HTML)
		sp_html_table_end(&out->markup);
	if (out->format == SP_FORMAT_TABLE) {
		sp_table_destroy(out->table);
		out->table = NULL;
	}
	return 0;
}

#define WRAP_LEAST 40u /* columns, even on a narrower terminal */
#define HEAD_COLUMNS 11u

/* The bytes of a line's head, such as "verdict    ", which fills its columns; 0: it has none. */
static size_t head_of(const char *line)
{
	char head[4 * HEAD_COLUMNS + 1];
	size_t n = strspn(line, " ");

	if (n)
		return n;
	do {
		n++;
		while (((uint8_t)line[n] & 0xC0) == 0x80) /* of the same character */
			n++;
		if (n >= sizeof(head) || !line[n])
			return 0;
		snprintf(head, sizeof(head), "%.*s", (int)n, line);
	} while (sp_text_width(head) < HEAD_COLUMNS);
	if (head[n - 1] != ' ' || sp_text_width(head) != HEAD_COLUMNS)
		return 0;
	return head[n - 2] == ' ' || strcspn(head, " ") == n - 1 ? n : 0;
}

/* In lines as wide as the terminal. */
static void put_line(struct sp_out *out, const char *line)
{
	size_t width = out->width > WRAP_LEAST ? out->width : WRAP_LEAST, head = head_of(line);
	size_t indent = head && *line == ' ' ? head : head ? HEAD_COLUMNS : 0, n = strlen(line);

	if (out->width && sp_text_width(line) > width)
		n = head + sp_wrap(line + head, width - indent);
	fprintf(out->file, "%.*s\n", (int)n, line);
	for (line += n; *line; line += n) {
		line += strspn(line, " ");
		n = sp_wrap(line, width - indent);
		fprintf(out->file, "%*s%.*s\n", (int)indent, "", (int)n, line);
	}
}

void sp_out_line(struct sp_out *out, const char *format, ...)
{
	char line[LINE_BYTES_MAX];
	va_list args;

	va_start(args, format);
	format = sp_translate(format);
	if (out->format == SP_FORMAT_HTML || out->format == SP_FORMAT_MD) {
		vsnprintf(line, sizeof(line), format, args);
		if (out->format == SP_FORMAT_MD)
			sp_md_line(&out->md, line);
		else
			sp_html_line(&out->markup, line);
	} else if (out->format == SP_FORMAT_TABLE) {
		int n = vsnprintf(line, sizeof(line), format, args);

		if (n >= 0 && (size_t)n < sizeof(line))
			put_line(out, line);
	}
	va_end(args);
}

void sp_out_wrapped(struct sp_out *out, const char *head, const char *text)
{
	static const char blanks[] = "                        ";
	const char *shown = sp_translate(head);
	size_t indent = sp_text_width(shown), width = out->width ? out->width : SIZE_MAX;
	size_t room = (width < WRAP_LEAST ? WRAP_LEAST : width) - indent;

	while (*text) {
		size_t n = sp_wrap(text, room);

		sp_out_line(out, "%s%.*s", shown, (int)n, text);
		shown = blanks + sizeof(blanks) - 1 - (indent < sizeof(blanks) ? indent : 0);
		text += n;
		text += strspn(text, " ");
	}
}
