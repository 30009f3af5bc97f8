/*
 * The page of `stageprof-report html`: pieces that the other views write, in HTML for people and
 * in JSON for scripts, around two pictures. Every piece has a budget of bytes, so that the page
 * has a size for any run.
 */
#include "analyzer/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/drawing.h"
#include "analyzer/page_assets.h"
#include "analyzer/step_stats.h"
#include "analyzer/text.h"
#include "analyzer/timeline.h"

#define PIECE_BYTES_MAX (100u * 1024u)
#define STEPS_BYTES_MAX (350u * 1024u)
#define ROWS_MAX 500u
#define STEP_ROWS_MAX 1000u
#define TIMELINE_EVENTS_MAX 16000u
#define PAUSES_MAX 500u
#define PAGE_LANGUAGE_BYTES 16u
#define SLOW_FACTOR 2u /* times the median, as in the view of steps */

struct section {
	const char *view, *title, *about;
};

static const struct section sections[] = {
#define SP_SECTION(view, title, about) {#view, title, about},
#include "analyzer/page_sections.def"
#undef SP_SECTION
};
#define SECTION_COUNT (sizeof(sections) / sizeof(sections[0]))

struct piece {
	char *text;
	size_t bytes;
};

typedef int show_function(const struct sp_report *report, struct sp_out *out,
			  const struct sp_view_options *options);

static int render(const struct sp_report *report, show_function *show, enum sp_format format,
		  uint32_t limit, struct piece *ret)
{
	struct sp_view_options rows = {.limit = limit, .thin = true};
	struct sp_out out = {.format = format, .is_part = true};
	int r;

	*ret = (struct piece){.text = NULL};
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

struct shown {
	struct piece html, json;
	uint32_t limit; /* 0: not even one row had room */
};

static bool has_rows(const struct shown *s)
{
	return s->html.text && strstr(s->html.text, "<td");
}

static void shown_free(struct shown *s)
{
	free(s->html.text);
	free(s->json.text);
}

/* As many rows as have room. */
static int fit(const struct sp_report *report, show_function *show, uint32_t limit, size_t budget,
	       struct shown *ret)
{
	for (;; limit /= 2) {
		int r = render(report, show, SP_FORMAT_HTML, limit, &ret->html);

		ret->json = (struct piece){.text = NULL};
		if (r == 0)
			r = render(report, show, SP_FORMAT_JSON, limit, &ret->json);
		ret->limit = limit;
		if (r < 0 || limit == 0 ||
		    (ret->html.bytes <= budget && ret->json.bytes <= budget))
			return r;
		shown_free(ret);
	}
}

static void put_data(FILE *f, const char *name, const char *json)
{
	fprintf(f, "<script type=\"application/json\" id=\"data-%s\">%s</script>\n", name, json);
}

static void put_shown(FILE *f, const char *name, const struct shown *shown, size_t budget)
{
	if (shown->html.bytes > budget || shown->json.bytes > budget) {
		fputs("<p class=\"line\">", f);
		fprintf(f, _("Too long for this page: stageprof-report %s"), name);
		fputs("</p>\n", f);
		return;
	}
	fputs(shown->html.text, f);
	put_data(f, name, shown->json.text);
}

/* Where the script puts what it draws, and what is there without it. */
static void put_picture_begin(FILE *f, const char *id)
{
	fprintf(f, "<div class=\"live\" id=\"%s\" hidden></div>\n<div class=\"still\">\n", id);
}

static uint64_t slow_ns(const struct sp_report *report)
{
	struct sp_step_stats stats;

	if (sp_step_stats(report, SP_STEP_WALL, SP_STEP_KINDS_ALL, &stats) < 0)
		return UINT64_MAX;
	return SLOW_FACTOR * stats.p50_ns;
}

static int put_step_picture(FILE *f, const struct sp_report *report)
{
	uint64_t steps = 0;
	int r;

	for (uint32_t t = 0; t < report->training.count; t++)
		steps += report->training.trainers[t].steps.count;
	if (steps == 0)
		return 0;
	put_picture_begin(f, "steps-chart");
	r = sp_draw_steps(f, report, slow_ns(report));
	fputs("</div>\n", f);
	if (steps > STEP_ROWS_MAX) {
		fputs("<p class=\"left-out\">", f);
		fprintf(f,
			_("Of %llu steps this page has at most %u: the shortest and the longest of each stretch "
			  "of the run. Left out are only steps between those two."),
			(unsigned long long)steps, STEP_ROWS_MAX);
		fputs("</p>\n", f);
	}
	return r;
}

static int put_section(FILE *f, const struct sp_report *report, const struct section *section)
{
	bool is_steps = strcmp(section->view, "steps") == 0;
	size_t budget = is_steps ? STEPS_BYTES_MAX : PIECE_BYTES_MAX;
	struct shown shown;
	int r = fit(report, sp_view_find(section->view)->show, is_steps ? STEP_ROWS_MAX : ROWS_MAX,
		    budget, &shown);

	if (r == 0)
		fprintf(f, "<section id=\"%s\"%s><h2>%s</h2><p class=\"about\">%s</p>\n",
			section->view, has_rows(&shown) ? "" : " class=\"empty\"", _(section->title),
			_(section->about));
	if (r == 0 && is_steps)
		r = put_step_picture(f, report);
	if (r == 0)
		put_shown(f, section->view, &shown, budget);
	shown_free(&shown);
	fputs("</section>\n", f);
	return r;
}

/* The trees of modules and operators are other readings of the trace than that of ranges. */
static int put_section_of_ranges(FILE *f, const struct sp_report *report,
				 const struct section *section, enum sp_range_choice choice)
{
	struct sp_report other = *report;
	int r;

	other.ranges = (struct sp_range_tree){.nodes = NULL};
	r = sp_ranges_read(&other.ranges, &other, choice);
	if (r == 0)
		r = put_section(f, &other, section);
	sp_ranges_finish(&other.ranges);
	return r;
}

static int put_sections(FILE *f, const struct sp_report *report, bool first)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SECTION_COUNT; i++) {
		const struct section *s = &sections[i];

		/* The timeline stands between the steps and the rest. */
		if ((i < 2) != first)
			continue;
		if (strcmp(s->view, "modules") == 0)
			r = put_section_of_ranges(f, report, s, SP_RANGES_MODULES);
		else if (strcmp(s->view, "ops") == 0)
			r = put_section_of_ranges(f, report, s, SP_RANGES_OPS);
		else
			r = put_section(f, report, s);
	}
	return r;
}

static void put_pauses(struct sp_json *j, const struct sp_report *report,
		       const struct sp_trainer *trainer)
{
	sp_json_open(j, "pauses", '[');
	for (uint32_t i = 0; i < trainer->steps.pause_count && i < PAUSES_MAX; i++) {
		const struct sp_pause *p = &trainer->steps.pauses[i];

		sp_json_open(j, NULL, '{');
		sp_json_signed(j, "start_ns", p->start_ns - report->begin_ns);
		sp_json_signed(j, "end_ns", p->end_ns - report->begin_ns);
		sp_json_bool(j, "is_validation", p->is_validation);
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

/* What pictures need and no view has: names of parts, and when no step was under way. */
static void put_training(FILE *f, const struct sp_report *report)
{
	struct sp_json j = {.file = f};

	fputs("<script type=\"application/json\" id=\"data-training\">", f);
	sp_json_open(&j, NULL, '{');
	sp_json_count(&j, "slow_ns", slow_ns(report));
	sp_json_open(&j, "parts", '[');
	for (int part = 0; part < SP_ACCOUNT_PARTS; part++) {
		const char *name = sp_account_name((enum sp_account_part)part);
		const char *title = sp_account_title((enum sp_account_part)part);

		sp_json_open(&j, NULL, '{');
		sp_json_string(&j, "part", name, strlen(name));
		sp_json_string(&j, "title", title, strlen(title));
		sp_json_close(&j, '}');
	}
	sp_json_close(&j, ']');
	sp_json_open(&j, "trainers", '[');
	for (uint32_t t = 0; t < report->training.count && t < SP_TIMELINE_LANES_MAX; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];
		const struct sp_stream *stream = report->index.streams[trainer->stream];

		sp_json_open(&j, NULL, '{');
		sp_json_count(&j, "pid", report->index.images[stream->image].pid);
		sp_json_count(&j, "tid", stream->tid);
		sp_json_count(&j, "steps", trainer->steps.count);
		put_pauses(&j, report, trainer);
		sp_json_close(&j, '}');
	}
	sp_json_close(&j, ']');
	sp_json_close(&j, '}');
	fputs("</script>\n", f);
}

static void put_section_begin(FILE *f, const char *id, const char *title, const char *about)
{
	fprintf(f, "<section id=\"%s\"><h2>%s</h2>\n<p class=\"about\">%s</p>\n", id, title, about);
}

static int put_timeline(FILE *f, const struct sp_report *report)
{
	struct sp_timeline timeline;
	struct sp_json j = {.file = f};
	int r = sp_timeline_read(&timeline, report, TIMELINE_EVENTS_MAX);

	if (r == 0) {
		put_section_begin(f, "timeline", _("Timeline"),
				  _("The training thread, the workers that make its batches, and the busiest "
				    "other threads."));
		fprintf(f,
			"<div class=\"live\" id=\"lanes-chart\" hidden></div>\n"
			"<noscript><p class=\"line\">%s</p></noscript>\n"
			"<script type=\"application/json\" id=\"data-timeline\">",
			_("The timeline is drawn by this page's script. Without it: stageprof-report dump."));
		sp_timeline_json(&timeline, report, &j);
		fputs("</script></section>\n", f);
	}
	sp_timeline_finish(&timeline);
	return r;
}

static int show_verdict(const struct sp_report *report, struct sp_out *out,
			const struct sp_view_options *options)
{
	(void)options;
	return sp_verdict_show(report, out);
}

static int show_run(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	(void)options;
	out->is_part = false;
	sp_run_json(report, out);
	sp_run_show(report, out);
	return 0;
}

static int show_account(const struct sp_report *report, struct sp_out *out,
			const struct sp_view_options *options)
{
	(void)options;
	return sp_account_show(report, out);
}

static int put_piece(FILE *f, const struct sp_report *report, const char *name, show_function *show)
{
	struct shown shown;
	int r = fit(report, show, ROWS_MAX, PIECE_BYTES_MAX, &shown);

	if (r < 0)
		return r;
	put_shown(f, name, &shown, PIECE_BYTES_MAX);
	shown_free(&shown);
	return 0;
}

static int put_account(FILE *f, const struct sp_report *report)
{
	int r;

	put_section_begin(f, "account", _("A step, by part"),
			  _("Where the training threads' time went: each nanosecond once."));
	sp_draw_account(f, report);
	r = put_piece(f, report, "account", show_account);
	fputs("</section>\n", f);
	return r;
}

/* As HTML names it: "zh-CN". */
static void page_language(char ret[PAGE_LANGUAGE_BYTES])
{
	snprintf(ret, PAGE_LANGUAGE_BYTES, "%s", sp_translate_code());
	for (char *p = ret; *p; p++)
		if (*p == '_')
			*p = '-';
}

static void put_head(FILE *f)
{
	char language[PAGE_LANGUAGE_BYTES];

	page_language(language);
	fprintf(f,
		"<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<title>%s</title>\n<style>%s</style></head>\n<body>\n",
		language, sp_page_policy, _("stageprof report"), sp_page_style);
}

static void put_link(FILE *f, const char *id, const char *title)
{
	fprintf(f, "<a href=\"#%s\">%s</a>", id, title);
}

static void put_navigation(FILE *f)
{
	fprintf(f, "<nav aria-label=\"%s\">", _("Sections"));
	put_link(f, "verdict", _("Verdict"));
	put_link(f, "run", _("The run"));
	put_link(f, "account", _("A step"));
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (i == 2)
			put_link(f, "timeline", _("Timeline"));
		put_link(f, sections[i].view, _(sections[i].title));
	}
	fputs("</nav>\n", f);
}

static int put_top(FILE *f, const struct sp_report *report)
{
	time_t begin = (time_t)(report->begin_ns / 1000000000);
	char when[64] = "";
	struct tm tm;
	int r;

	if (gmtime_r(&begin, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(f, "<header><h1>%s</h1><p class=\"when\">", _("Where the training time went"));
	fprintf(f, _("A run that began %s"), when);
	fputs("</p></header>\n", f);
	put_navigation(f);
	fprintf(f, "<main>\n<section id=\"verdict\"><h2>%s</h2>\n", _("Verdict"));
	r = put_piece(f, report, "verdict", show_verdict);
	fprintf(f, "</section>\n<section id=\"run\"><h2>%s</h2>\n", _("The run"));
	if (r == 0)
		r = put_piece(f, report, "run", show_run);
	fputs("</section>\n", f);
	return r;
}

/* What the scripts say. */
static void put_words(FILE *f)
{
	struct sp_json j = {.file = f};

	fputs("<script type=\"application/json\" id=\"data-words\">", f);
	sp_json_open(&j, NULL, '{');
#define SP_PAGE_WORD(key, text) sp_json_string(&j, #key, _(text), strlen(_(text)));
#include "analyzer/page_words.def"
#undef SP_PAGE_WORD
	sp_json_close(&j, '}');
	fputs("</script>\n", f);
}

static void put_end(FILE *f)
{
	fprintf(f, "</main>\n<footer><p>%s</p>\n<details><summary>%s</summary><pre>",
		_("Made by stageprof-report html. Charts by dygraphs, which is in this page with its licence:"),
		_("Licence of dygraphs"));
	sp_markup_plain(f, sp_page_licence);
	fprintf(f, "</pre></details></footer>\n<script>%s</script>\n</body></html>\n",
		sp_page_script);
}

int sp_view_html(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	FILE *f = out->file;
	int r;

	if (options->sort)
		return -EINVAL;
	put_head(f);
	r = put_top(f, report);
	if (r == 0)
		r = put_account(f, report);
	if (r == 0)
		r = put_sections(f, report, true);
	if (r == 0)
		r = put_timeline(f, report);
	if (r == 0)
		r = put_sections(f, report, false);
	put_training(f, report);
	put_words(f);
	put_end(f);
	return r;
}
