/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of the page that show a view (page_sections.def), and the links to them. All are
 * made before the first is written, because the links name only sections with rows.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_SECTIONS_H
#define STAGEPROF_ANALYZER_PAGE_SECTIONS_H

#include "analyzer/views/html/page_fit.h"

enum {
#define SP_SECTION(view, title, about) SP_PAGE_SECTION_##view,
#include "analyzer/views/html/page_sections.def"
#undef SP_SECTION
	SP_PAGE_SECTIONS
};

struct sp_page_sections {
	struct sp_page_text pieces[SP_PAGE_SECTIONS];
	bool is_there[SP_PAGE_SECTIONS];
};

/*
 * Makes the sections of an empty struct. Returns 0, or an error of a view, -ENOMEM among them;
 * sp_page_sections_free() is due in all cases.
 */
int sp_page_sections_make(struct sp_page_sections *all, const struct sp_report *report);
void sp_page_sections_free(struct sp_page_sections *all);

/* Writes the sections, and the timeline among them. */
void sp_page_sections_put(FILE *f, const struct sp_report *report,
			  const struct sp_page_sections *all);

void sp_page_navigation_put(FILE *f, const struct sp_page_sections *all);

#endif
