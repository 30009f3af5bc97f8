/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/html/page_verdict.h"

#include "analyzer/page/drawing.h"
#include "analyzer/sections/wait_section.h"
#include "analyzer/text/translate.h"
#include "analyzer/verdict/advice_line.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/verdict_text.h"
#include "analyzer/views/html/page_fit.h"
#include "analyzer/views/html/page_source.h"
#include "analyzer/views/view_verdict.h"

#define CARDS_MAX 3u

static int show_verdict(const struct sp_report *report, struct sp_out *out,
			const struct sp_view_options *options)
{
	(void)options;
	return sp_verdict_show(report, out, false);
}

static void put_card(FILE *f, const struct sp_report *report, const struct sp_verdict *v,
		     enum sp_advice_id advice, const char *title, bool symbols)
{
	char text[SP_VERDICT_TEXT_BYTES], saves[SP_SAVING_TEXT_BYTES];
	struct sp_saving saving = sp_advice_saving(&v->metrics, advice);
	const char *costs = sp_advice_rule_of(advice)->costs;

	sp_advice_text(v, advice, text, sizeof(text));
	sp_saving_text(&saving, false, saves, sizeof(saves));
	fprintf(f, "<li><strong>%s</strong> ", title);
	if (*saves)
		fprintf(f, "<em class=\"saves\">%s</em> ", saves);
	sp_html_plain(f, text);
	if (costs) {
		fprintf(f, " <em>%s</em>", _("costs      "));
		sp_html_plain(f, _(costs));
	}
	if (symbols && v->names_line[advice])
		sp_page_source_put(f, report, sp_advice_line(v, advice)->frame);
	fputs("</li>\n", f);
}

static void put_cards(FILE *f, const struct sp_report *report, const struct sp_verdict *v,
		      bool symbols)
{
	enum sp_advice_id order[SP_ADVICES];

	if (v->advice_count == 0)
		return;
	sp_advice_by_saving(v, order);
	fputs("<ol class=\"cards\">\n", f);
	for (uint32_t i = 0; i < v->advice_count && i < CARDS_MAX; i++)
		put_card(f, report, v, order[i], i ? _("Then") : _("Do this first"), symbols);
	fputs("</ol>\n", f);
}

/* The function that takes most of each part of the bar, where samples name one. */
static int put_functions(FILE *f, const struct sp_report *report)
{
	int r = 0;

	fputs("<ul class=\"functions\">\n", f);
	for (int part = 0; r == 0 && part < SP_SAMPLED_PARTS; part++) {
		struct sp_sampled_line line;
		char text[SP_LINE_TEXT_BYTES];

		if (!sp_sampled_part_is_whole((enum sp_sampled_part)part))
			continue;
		r = sp_sampled_line_find(&line, &report->samples, (enum sp_sampled_part)part);
		if (r < 0 || !line.samples)
			continue;
		sp_sampled_line_text(&line, true, text);
		fputs("<li>", f);
		sp_html_plain(f, text);
		fputs("</li>\n", f);
	}
	fputs("</ul>\n", f);
	return r;
}

int sp_page_verdict_put(FILE *f, const struct sp_report *report, const struct sp_verdict *v,
			bool symbols)
{
	const char *severity = sp_severity_name(v);
	char text[SP_VERDICT_TEXT_BYTES];
	int r;

	fprintf(f, "<section id=\"verdict\" class=\"%s\"><h2>", severity ? severity : "fine");
	sp_html_plain(f, v->text);
	sp_confidence_text(v, SP_DOUBTS, text, sizeof(text));
	fputs("</h2>\n<p class=\"about\">", f);
	sp_html_plain(f, text);
	fputs("</p>\n", f);
	sp_draw_account(f, report);
	if (sp_wait_text(&v->metrics, 0, text, sizeof(text)))
		fprintf(f, "<p class=\"sum\">%s%s</p>\n", _("input wait "), text);
	r = put_functions(f, report);
	put_cards(f, report, v, symbols);
	fprintf(f, "<details><summary>%s</summary>\n", _("Evidence and confidence"));
	if (r == 0)
		r = sp_page_view_put(f, report, "verdict", show_verdict);
	fputs("</details></section>\n", f);
	return r;
}
