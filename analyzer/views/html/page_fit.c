/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/html/page_fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/translate.h"

static int render(const struct sp_report *report, sp_page_show *show, enum sp_format format,
		  uint32_t limit, struct sp_page_text *ret)
{
	struct sp_view_options rows = {.limit = limit, .thin = true};
	struct sp_out out = {.format = format, .is_part = true};
	int r;

	*ret = (struct sp_page_text){.text = NULL};
	out.file = open_memstream(&ret->text, &ret->bytes);
	if (!out.file)
		return -ENOMEM;
	sp_out_begin(&out);
	r = show(report, &out, &rows);
	if (sp_out_end(&out) < 0)
		r = -ENOMEM;
	fclose(out.file);
	return r;
}

bool sp_page_fit_has_rows(const struct sp_page_fit *s)
{
	return s->html.text && strstr(s->html.text, "<td");
}

void sp_page_fit_free(struct sp_page_fit *s)
{
	free(s->html.text);
	free(s->json.text);
}

int sp_page_fit_make(const struct sp_report *report, sp_page_show *show, uint32_t limit,
		     size_t budget, struct sp_page_fit *ret)
{
	for (;; limit /= 2) {
		int r = render(report, show, SP_FORMAT_HTML, limit, &ret->html);

		ret->json = (struct sp_page_text){.text = NULL};
		if (r == 0)
			r = render(report, show, SP_FORMAT_JSON, limit, &ret->json);
		ret->limit = limit;
		if (r < 0 || limit == 0 || (ret->html.bytes <= budget && ret->json.bytes <= budget))
			return r;
		sp_page_fit_free(ret);
	}
}

void sp_page_data_put(FILE *f, const char *name, const char *json)
{
	fprintf(f, "<script type=\"application/json\" id=\"data-%s\">%s</script>\n", name, json);
}

void sp_page_fit_put(FILE *f, const char *name, const struct sp_page_fit *shown, size_t budget)
{
	if (shown->html.bytes > budget || shown->json.bytes > budget) {
		fputs("<p class=\"line\">", f);
		fprintf(f, _("Too long for this page: stageprof-report %s"), name);
		fputs("</p>\n", f);
		return;
	}
	fputs(shown->html.text, f);
	sp_page_data_put(f, name, shown->json.text);
}

void sp_page_section_begin(FILE *f, const char *id, const char *title, const char *about)
{
	fprintf(f, "<section id=\"%s\"><h2>%s</h2>\n<p class=\"about\">%s</p>\n", id, title, about);
}

int sp_page_view_put(FILE *f, const struct sp_report *report, const char *name, sp_page_show *show)
{
	struct sp_page_fit shown;
	int r = sp_page_fit_make(report, show, SP_PAGE_ROWS_MAX, SP_PAGE_PIECE_BYTES_MAX, &shown);

	if (r < 0)
		return r;
	sp_page_fit_put(f, name, &shown, SP_PAGE_PIECE_BYTES_MAX);
	sp_page_fit_free(&shown);
	return 0;
}
