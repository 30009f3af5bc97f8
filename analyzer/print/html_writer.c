/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/print/html_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/print/table.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define TEXT_BYTES_MAX (16u * 1024u)
#define TEXT_WIDTH_MAX 240u

void sp_html_plain(FILE *file, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		case '\'':
			fputs("&#39;", file);
			break;
		default:
			putc(*text, file);
		}
	}
}

void sp_html_text(FILE *file, const char *text, size_t bytes)
{
	char safe[TEXT_BYTES_MAX];

	sp_text_escape(safe, sizeof(safe), text, bytes);
	sp_text_shorten(safe, TEXT_WIDTH_MAX);
	sp_html_plain(file, safe);
}

void sp_html_table(struct sp_html *m, const char *key, const char *title,
		   const struct sp_column *columns, size_t n)
{
	sp_html_end(m);
	fprintf(m->file, "<div class=\"scroll\" tabindex=\"0\"><table data-table=\"%s\">", key);
	if (title)
		fprintf(m->file, "<caption>%s</caption>", title);
	fputs("<thead><tr>", m->file);
	for (size_t i = 0; i < n; i++) {
		if (!columns[i].title)
			continue;
		fprintf(m->file, "<th scope=\"col\"%s",
			sp_cell_is_text(columns[i].type) ? " class=\"text\"" : "");
		if (columns[i].key)
			fprintf(m->file, " data-key=\"%s\"", columns[i].key);
		fprintf(m->file, ">%s</th>", _(columns[i].title));
	}
	fputs("</tr></thead><tbody>\n", m->file);
}

static int put_cell(FILE *file, const struct sp_column *column, const struct sp_cell *cell)
{
	char *text;

	if (sp_cell_is_text(column->type) && !cell->is_null) {
		fputs("<td class=\"text\">", file);
		sp_html_text(file, cell->text, cell->bytes);
	} else {
		text = sp_table_cell(column, cell);
		if (!text)
			return -ENOMEM;
		fprintf(file, sp_cell_is_text(column->type) ? "<td class=\"text\">%s" : "<td>%s",
			text);
		free(text);
	}
	fputs("</td>", file);
	return 0;
}

/* The name of a row that only programs see: the style and the scripts find the row by it. */
static void put_row_begin(FILE *file, const struct sp_column *first, const struct sp_cell *cell)
{
	bool is_named = first->key && !first->title && sp_cell_is_text(first->type) &&
			!cell->is_null && cell->bytes;

	fputs(is_named ? "<tr data-row=\"" : "<tr", file);
	if (is_named)
		sp_html_text(file, cell->text, cell->bytes);
	fputs(is_named ? "\">" : ">", file);
}

int sp_html_row(struct sp_html *m, const struct sp_column *columns, size_t n,
		const struct sp_cell *cells)
{
	int r = 0;

	put_row_begin(m->file, &columns[0], &cells[0]);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (columns[i].title)
			r = put_cell(m->file, &columns[i], &cells[i]);
	fputs("</tr>\n", m->file);
	return r;
}

void sp_html_table_end(struct sp_html *m)
{
	fputs("</tbody></table></div>\n", m->file);
}

/* The bytes of the name at the line's start; *ret_text: the start of the named text. SIZE_MAX
 * where the line has no name. */
static size_t name_bytes(const char *line, const char **ret_text)
{
	size_t width, n = sp_text_prefix(line, SP_LINE_NAME, &width);

	/* two blanks end a name; one blank separates words */
	if (width < SP_LINE_NAME || strncmp(line + n - 2, "  ", 2) != 0 || line[n] == ' ')
		return SIZE_MAX;
	*ret_text = line + n;
	while (n && line[n - 1] == ' ')
		n--;
	return n;
}

void sp_html_line(struct sp_html *m, const char *line)
{
	const char *text = line;
	size_t name = name_bytes(line, &text);

	if (!*line)
		return;
	if (name == SIZE_MAX || (name == 0 && !m->in_list)) {
		sp_html_end(m);
		fputs("<p class=\"line\">", m->file);
		sp_html_plain(m->file, line);
		fputs("</p>\n", m->file);
		return;
	}
	if (!m->in_list)
		fputs("<dl>\n", m->file);
	m->in_list = true;
	if (name)
		fprintf(m->file, "<dt>%.*s</dt>", (int)name, line);
	fputs("<dd>", m->file);
	sp_html_plain(m->file, text);
	fputs("</dd>\n", m->file);
}

void sp_html_end(struct sp_html *m)
{
	if (m->in_list)
		fputs("</dl>\n", m->file);
	m->in_list = false;
}
