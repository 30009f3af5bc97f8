/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/html/page_source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/print/html_writer.h"
#include "analyzer/text/text.h"

#define FILE_BYTES_MAX (4u << 20)
#define PATH_BYTES 4096u
#define LINE_BYTES 200u /* shown */
#define NEIGHBOURS 1u	/* lines before, and after */

/* The name is the trace's word: only a Python program's own text may be quoted. */
static FILE *open_source(const struct sp_report *report, const char *path)
{
	size_t bytes = strlen(path);
	struct stat st;
	FILE *file;
	int fd;

	if (*path != '/' || bytes < 4 || strcmp(path + bytes - 3, ".py") != 0)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX ||
	    st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec > report->run.begin_ns) {
		close(fd);
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static void put_line(FILE *f, uint32_t number, bool is_it, const char *text, size_t bytes)
{
	char shown[4 * LINE_BYTES];

	while (bytes && (text[bytes - 1] == '\n' || text[bytes - 1] == '\r'))
		bytes--;
	fprintf(f, is_it ? "<b>%6u  " : "%6u  ", number);
	for (; bytes && *text == '\t'; text++, bytes--)
		fputs("    ", f);
	sp_text_escape(shown, sizeof(shown), text, bytes < LINE_BYTES ? bytes : LINE_BYTES);
	sp_html_plain(f, shown);
	fputs(is_it ? "</b>\n" : "\n", f);
}

static void put_lines(FILE *f, FILE *source, uint32_t line)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t bytes;

	fputs("<pre class=\"source\">", f);
	for (uint32_t number = 1; number <= line + NEIGHBOURS; number++) {
		bytes = getline(&text, &room, source);
		if (bytes < 0)
			break;
		if (number + NEIGHBOURS >= line)
			put_line(f, number, number == line, text, (size_t)bytes);
	}
	fputs("</pre>", f);
	free(text);
}

void sp_page_source_put(FILE *f, const struct sp_report *report, uint32_t frame)
{
	const struct sp_samples *samples = &report->samples;
	size_t bytes;
	const char *text =
		sp_string_table_text(&samples->texts, samples->frames[frame].text, &bytes);
	const char *tab = memchr(text, '\t', bytes);
	char path[PATH_BYTES];
	FILE *source;

	if (!tab || (size_t)(tab - text) >= sizeof(path) ||
	    memchr(text, '\0', (size_t)(tab - text)))
		return;
	memcpy(path, text, (size_t)(tab - text));
	path[tab - text] = '\0';
	source = open_source(report, path);
	if (!source)
		return;
	put_lines(f, source, samples->frames[frame].line);
	fclose(source);
}
