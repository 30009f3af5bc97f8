/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of the page: what a view shows, in HTML for people and in JSON for scripts, with as many
 * rows as a limit of bytes lets in. So the page stays small for any run.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_FIT_H
#define STAGEPROF_ANALYZER_PAGE_FIT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/views/view.h"

#define SP_PAGE_PIECE_BYTES_MAX (40u * 1024u)
#define SP_PAGE_ROWS_MAX 250u

struct sp_page_text {
	char *text;
	size_t bytes;
};

struct sp_page_fit {
	struct sp_page_text html, json;
	uint32_t limit; /* 0: not even one row had room */
};

/* Shows a view, as its struct sp_view does. */
typedef int sp_page_show(const struct sp_report *report, struct sp_out *out,
			 const struct sp_view_options *options);

/*
 * Makes both forms with `limit` rows, or with half of them, until each has at most `budget` bytes
 * or no row is left. Returns 0, or an error of `show`, -ENOMEM among them; sp_page_fit_free() is
 * due in all cases.
 */
int sp_page_fit_make(const struct sp_report *report, sp_page_show *show, uint32_t limit,
		     size_t budget, struct sp_page_fit *ret);
void sp_page_fit_free(struct sp_page_fit *fit);

bool sp_page_fit_has_rows(const struct sp_page_fit *fit);

/* Writes both forms; where they have more bytes than `budget`, the name of the view instead. */
void sp_page_fit_put(FILE *f, const char *name, const struct sp_page_fit *fit, size_t budget);

/* Makes and writes a piece with the limits above. */
int sp_page_view_put(FILE *f, const struct sp_report *report, const char *name, sp_page_show *show);

/* Writes JSON that the page's script finds by the name. */
void sp_page_data_put(FILE *f, const char *name, const char *json);

/* The caller ends the section: "</section>". */
void sp_page_section_begin(FILE *f, const char *id, const char *title, const char *about);

#endif
