/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of `stageprof-report html`: its parts in their order. Sections are what other views
 * write.
 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/page/page_assets.h"
#include "analyzer/sections/account_section.h"
#include "analyzer/sections/run_section.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/views/html/page_fit.h"
#include "analyzer/views/html/page_head.h"
#include "analyzer/views/html/page_pictures.h"
#include "analyzer/views/html/page_sections.h"
#include "analyzer/views/html/page_verdict.h"
#include "analyzer/views/run_json.h"

static int show_run(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	(void)options;
	out->is_part = false;
	sp_run_json(report, out);
	sp_run_section(report, out);
	return 0;
}

static int show_account(const struct sp_report *report, struct sp_out *out,
			const struct sp_view_options *options)
{
	(void)options;
	return sp_account_section(report, out);
}

static int put_account(FILE *f, const struct sp_report *report)
{
	int r;

	sp_page_section_begin(f, "account", _("Training time, by phase"),
			      _("Where the training threads' time went: each nanosecond once."));
	r = sp_page_view_put(f, report, "account", show_account);
	fputs("</section>\n", f);
	return r;
}

static int put_run(FILE *f, const struct sp_report *report)
{
	int r;

	fprintf(f, "<section id=\"run\"><h2>%s</h2>\n", _("The run"));
	r = sp_page_view_put(f, report, "run", show_run);
	fputs("</section>\n", f);
	return r;
}

/* The words of the scripts. */
static void put_words(FILE *f)
{
	struct sp_json j = {.file = f};

	fputs("<script type=\"application/json\" id=\"data-words\">", f);
	sp_json_open(&j, NULL, '{');
#define SP_PAGE_WORD(key, text) sp_json_string(&j, #key, _(text), strlen(_(text)));
#include "analyzer/page/page_words.def"
#undef SP_PAGE_WORD
	sp_json_close(&j, '}');
	fputs("</script>\n", f);
}

static void put_end(FILE *f)
{
	fprintf(f, "</main>\n<footer><p>%s</p>\n<details><summary>%s</summary><pre>",
		_("Made by stageprof-report html. Charts by dygraphs, which is in this page with "
		  "its licence:"),
		_("Licence of dygraphs"));
	sp_html_plain(f, sp_page_licence);
	fprintf(f, "</pre></details></footer>\n<script>%s</script>\n</body></html>\n",
		sp_page_script);
}

struct page {
	struct sp_page_head head;
	struct sp_verdict verdict;
	struct sp_page_sections sections;
	bool symbols;
};

static int put_page(FILE *f, const struct sp_report *report, const struct page *page)
{
	int r;

	sp_page_head_put(f, &page->head, &page->verdict);
	sp_page_top_put(f, report, &page->head);
	sp_page_navigation_put(f, &page->sections);
	fputs("<main>\n", f);
	r = sp_page_verdict_put(f, report, &page->verdict, page->symbols);
	if (r == 0)
		r = put_account(f, report);
	sp_page_sections_put(f, report, &page->sections);
	if (r == 0)
		r = put_run(f, report);
	sp_page_training_put(f, report);
	put_words(f);
	put_end(f);
	return r;
}

int sp_view_html(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct page *page;
	int r;

	if (options->sort)
		return -EINVAL;
	page = calloc(1, sizeof(*page));
	if (!page)
		return -ENOMEM;
	page->symbols = options->symbols;
	sp_page_head_make(&page->head, report, options);
	r = sp_verdict_make(&page->verdict, report, &report->wait_thresholds);
	if (r == 0)
		r = sp_page_sections_make(&page->sections, report);
	if (r == 0)
		r = put_page(out->file, report, page);
	sp_page_sections_free(&page->sections);
	free(page);
	return r;
}
