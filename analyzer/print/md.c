/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/print/md.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/print/table.h"
#include "analyzer/text/translate.h"

/* CommonMark 2.4: a backslash makes any ASCII punctuation literal. "_" between letters needs
 * none. */
static bool is_mark(const char *text, const char *p)
{
	if (*p == '_')
		return p == text || !isalnum((unsigned char)p[-1]) || !isalnum((unsigned char)p[1]);
	if (*p == '.' || *p == ':') /* www. and http: would become links */
		return p[1] == '/' || (p - text >= 3 && strncasecmp(p - 3, "www", 3) == 0);
	return strchr("\\`*[]<>|~&#@!$", *p) != NULL;
}

static void put_text(FILE *file, const char *text)
{
	for (const char *p = text; *p; p++) {
		if (is_mark(text, p))
			putc('\\', file);
		putc(*p, file);
	}
}

void sp_md_head(struct sp_md *md, const char *title, const struct sp_column *columns, size_t n)
{
	putc('\n', md->file);
	md->in_lines = false;
	if (title) {
		put_text(md->file, title);
		fputs("\n\n", md->file);
	}
	for (size_t i = 0; i < n; i++) {
		if (!columns[i].title)
			continue;
		fputs("| ", md->file);
		put_text(md->file, _(columns[i].title));
		putc(' ', md->file);
	}
	fputs("|\n", md->file);
	for (size_t i = 0; i < n; i++)
		if (columns[i].title)
			fputs(sp_cell_is_text(columns[i].type) ? "|:---" : "|---:", md->file);
	fputs("|\n", md->file);
}

int sp_md_row(struct sp_md *md, const struct sp_column *columns, size_t n,
	      const struct sp_cell *cells)
{
	for (size_t i = 0; i < n; i++) {
		char *text;

		if (!columns[i].title)
			continue;
		text = sp_table_cell(&columns[i], &cells[i]);
		if (!text)
			return -ENOMEM;
		fputs("| ", md->file);
		put_text(md->file, text);
		putc(' ', md->file);
		free(text);
	}
	fputs("|\n", md->file);
	return 0;
}

void sp_md_line(struct sp_md *md, const char *line)
{
	if (!md->in_lines)
		putc('\n', md->file);
	md->in_lines = true;
	/* one text of a view may contain several lines */
	while (*line) {
		size_t n = strcspn(line, "\n");

		fprintf(md->file, n ? "    %.*s\n" : "%.*s\n", (int)n, line);
		line += n + (line[n] != '\0');
	}
}
