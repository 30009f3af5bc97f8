/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/html/page_sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/translate.h"
#include "analyzer/views/html/page_pictures.h"

#define STEPS_BYTES_MAX (350u * 1024u)

struct section {
	const char *view, *title, *about;
};

static const struct section sections[] = {
#define SP_SECTION(view, title, about) {#view, title, about},
#include "analyzer/views/html/page_sections.def"
#undef SP_SECTION
};
#define TIMELINE_BEFORE 2 /* the timeline stands between the steps and the rest */

static int put_section(FILE *f, const struct sp_report *report, const struct section *section,
		       bool *is_there)
{
	bool is_steps = strcmp(section->view, "steps") == 0;
	size_t budget = is_steps ? STEPS_BYTES_MAX : SP_PAGE_PIECE_BYTES_MAX;
	const struct sp_view *view = sp_view_find(section->view);
	struct sp_page_fit shown;
	int r;

	*is_there = false;
	if (sp_index_has_digested(&report->run.index) && !(view->needs & SP_TAKES_DIGESTS))
		return 0; /* it needs events */
	r = sp_page_fit_make(report, view->show, is_steps ? SP_PAGE_STEPS_MAX : SP_PAGE_ROWS_MAX,
			     budget, &shown);

	*is_there = r == 0 && sp_page_fit_has_rows(&shown) &&
		    (strcmp(section->view, "ranks") != 0 || report->ranks.count > 1);
	if (*is_there)
		fprintf(f, "<section id=\"%s\"><h2>%s</h2><p class=\"about\">%s</p>\n",
			section->view, _(section->title), _(section->about));
	if (*is_there && is_steps)
		r = sp_page_steps_put(f, report);
	if (*is_there && strcmp(section->view, "functions") == 0)
		r = sp_page_flame_put(f, report);
	if (*is_there && strcmp(section->view, "ranks") == 0)
		r = sp_page_heat_put(f, report);
	if (*is_there)
		sp_page_fit_put(f, section->view, &shown, budget);
	else if (r == 0)
		sp_page_data_put(f, section->view, shown.json.text);
	sp_page_fit_free(&shown);
	if (*is_there)
		fputs("</section>\n", f);
	return r;
}

int sp_page_sections_make(struct sp_page_sections *all, const struct sp_report *report)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SP_PAGE_SECTIONS; i++) {
		struct sp_page_text *piece = &all->pieces[i];
		FILE *f = open_memstream(&piece->text, &piece->bytes);

		if (!f)
			return -ENOMEM;
		r = put_section(f, report, &sections[i], &all->is_there[i]);
		if (fclose(f) != 0 && r == 0)
			r = -ENOMEM;
	}
	return r;
}

void sp_page_sections_free(struct sp_page_sections *all)
{
	for (size_t i = 0; i < SP_PAGE_SECTIONS; i++)
		free(all->pieces[i].text);
}

static void put_link(FILE *f, const char *id, const char *title)
{
	fprintf(f, "<a href=\"#%s\">%s</a>", id, title);
}

void sp_page_navigation_put(FILE *f, const struct sp_page_sections *all)
{
	fprintf(f, "<nav aria-label=\"%s\">", _("Sections"));
	put_link(f, "verdict", _("Verdict"));
	put_link(f, "account", _("Phases"));
	for (size_t i = 0; i < SP_PAGE_SECTIONS; i++) {
		if (i == TIMELINE_BEFORE)
			put_link(f, "timeline", _("Timeline"));
		if (all->is_there[i])
			put_link(f, sections[i].view, _(sections[i].title));
	}
	put_link(f, "run", _("The run"));
	fputs("</nav>\n", f);
}

void sp_page_sections_put(FILE *f, const struct sp_report *report,
			  const struct sp_page_sections *all)
{
	for (size_t i = 0; i < SP_PAGE_SECTIONS; i++) {
		if (i == TIMELINE_BEFORE)
			sp_page_timeline_put(f, report);
		fwrite(all->pieces[i].text, 1, all->pieces[i].bytes, f);
	}
}
