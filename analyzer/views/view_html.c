/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of `stageprof-report html`: sections that the other views write, in HTML for people and
 * in JSON for scripts, and two pictures. Every section has a limit of bytes, so that the page stays
 * small for any run.
 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/page/drawing.h"
#include "analyzer/page/flame_json.h"
#include "analyzer/page/heat_json.h"
#include "analyzer/page/page_assets.h"
#include "analyzer/sections/ending.h"
#include "analyzer/sections/shown_part.h"
#include "analyzer/sections/wait_section.h"
#include "analyzer/sections/account_section.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/text/text.h"
#include "analyzer/page/timeline_json.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/verdict.h"

#define PIECE_BYTES_MAX (100u * 1024u)
#define STEPS_BYTES_MAX (350u * 1024u)
#define ROWS_MAX 500u
#define STEP_ROWS_MAX 1000u
#define PAUSES_MAX 500u
#define PAGE_LANGUAGE_BYTES 16u
#define SLOW_FACTOR 2u /* times the median, as in the view of steps */

struct section {
	const char *view, *title, *about;
};

static const struct section sections[] = {
#define SP_SECTION(view, title, about) {#view, title, about},
#include "analyzer/views/page_sections.def"
#undef SP_SECTION
};
#define SECTION_COUNT (sizeof(sections) / sizeof(sections[0]))

struct section_text {
	char *text;
	size_t bytes;
};

typedef int show_function(const struct sp_report *report, struct sp_out *out,
			  const struct sp_view_options *options);

static int render(const struct sp_report *report, show_function *show, enum sp_format format,
		  uint32_t limit, struct section_text *ret)
{
	struct sp_view_options rows = {.limit = limit, .thin = true};
	struct sp_out out = {.format = format, .is_part = true};
	int r;

	*ret = (struct section_text){.text = NULL};
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
	struct section_text html, json;
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

/* Writes as many rows as fit. */
static int fit(const struct sp_report *report, show_function *show, uint32_t limit, size_t budget,
	       struct shown *ret)
{
	for (;; limit /= 2) {
		int r = render(report, show, SP_FORMAT_HTML, limit, &ret->html);

		ret->json = (struct section_text){.text = NULL};
		if (r == 0)
			r = render(report, show, SP_FORMAT_JSON, limit, &ret->json);
		ret->limit = limit;
		if (r < 0 || limit == 0 || (ret->html.bytes <= budget && ret->json.bytes <= budget))
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

/* The element for the script's drawing, and the content without a script. */
static void put_picture_begin(FILE *f, const char *id)
{
	fprintf(f, "<div class=\"live\" id=\"%s\" hidden></div>\n<div class=\"still\">\n", id);
}

static uint64_t slow_ns(const struct sp_report *report)
{
	struct sp_step_stats stats;

	if (sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &stats) < 0)
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
			_("%llu steps, of which this page has at most %u: the shortest and the "
			  "longest of "
			  "each stretch of the run. Left out are only steps between those two."),
			(unsigned long long)steps, STEP_ROWS_MAX);
		fputs("</p>\n", f);
	}
	return r;
}

static int put_flame(FILE *f, const struct sp_report *report)
{
	struct sp_json j = {.file = f};
	int r;

	fputs("<div class=\"live\" id=\"flame-chart\" hidden></div>\n"
	      "<script type=\"application/json\" id=\"data-flame\">",
	      f);
	r = sp_flame_json(report, &j);
	fputs("</script>\n", f);
	return r;
}

static int put_heat(FILE *f, const struct sp_report *report)
{
	struct sp_json j = {.file = f};
	int r;

	fputs("<div class=\"live\" id=\"heat-chart\" hidden></div>\n"
	      "<script type=\"application/json\" id=\"data-heat\">",
	      f);
	r = sp_heat_json(report, &j);
	fputs("</script>\n", f);
	return r;
}

static int put_section(FILE *f, const struct sp_report *report, const struct section *section,
		       bool *is_there)
{
	bool is_steps = strcmp(section->view, "steps") == 0;
	size_t budget = is_steps ? STEPS_BYTES_MAX : PIECE_BYTES_MAX;
	const struct sp_view *view = sp_view_find(section->view);
	struct shown shown;
	int r;

	*is_there = false;
	if (sp_index_has_digested(&report->run.index) && !(view->needs & SP_TAKES_DIGESTS))
		return 0; /* it needs events */
	r = fit(report, view->show, is_steps ? STEP_ROWS_MAX : ROWS_MAX, budget, &shown);

	*is_there = r == 0 && has_rows(&shown) &&
		    (strcmp(section->view, "ranks") != 0 || report->ranks.count > 1);
	if (*is_there)
		fprintf(f, "<section id=\"%s\"><h2>%s</h2><p class=\"about\">%s</p>\n",
			section->view, _(section->title), _(section->about));
	if (*is_there && is_steps)
		r = put_step_picture(f, report);
	if (*is_there && strcmp(section->view, "functions") == 0)
		r = put_flame(f, report);
	if (*is_there && strcmp(section->view, "ranks") == 0)
		r = put_heat(f, report);
	if (*is_there)
		put_shown(f, section->view, &shown, budget);
	else if (r == 0)
		put_data(f, section->view, shown.json.text);
	shown_free(&shown);
	if (*is_there)
		fputs("</section>\n", f);
	return r;
}

/* The part below the head. It is written first, because the links name only sections with rows. */
struct body {
	struct section_text pieces[SECTION_COUNT];
	bool is_there[SECTION_COUNT];
};

static int body_render(struct body *body, const struct sp_report *report)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SECTION_COUNT; i++) {
		struct section_text *piece = &body->pieces[i];
		FILE *f = open_memstream(&piece->text, &piece->bytes);

		if (!f)
			return -ENOMEM;
		r = put_section(f, report, &sections[i], &body->is_there[i]);
		if (fclose(f) != 0 && r == 0)
			r = -ENOMEM;
	}
	return r;
}

static void body_free(struct body *body)
{
	for (size_t i = 0; i < SECTION_COUNT; i++)
		free(body->pieces[i].text);
}

static void put_pauses(struct sp_json *j, const struct sp_report *report,
		       const struct sp_trainer *trainer)
{
	sp_json_open(j, "pauses", '[');
	for (uint32_t i = 0; i < trainer->steps.pause_count && i < PAUSES_MAX; i++) {
		const struct sp_pause *p = &trainer->steps.pauses[i];

		sp_json_open(j, NULL, '{');
		sp_json_signed(j, "start_ns", p->start_ns - report->run.begin_ns);
		sp_json_signed(j, "end_ns", p->end_ns - report->run.begin_ns);
		sp_json_bool(j, "is_validation", p->is_validation);
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

/* Data of the pictures that no view has: names of phases, and times outside of steps. */
static void put_training(FILE *f, const struct sp_report *report)
{
	struct sp_json j = {.file = f};

	fputs("<script type=\"application/json\" id=\"data-training\">", f);
	sp_json_open(&j, NULL, '{');
	sp_json_count(&j, "slow_ns", slow_ns(report));
	sp_json_open(&j, "parts", '[');
	for (int part = 0; part < SP_ACCOUNT_PHASES; part++) {
		const char *name = sp_account_name((enum sp_account_phase)part);
		const char *title = sp_account_title((enum sp_account_phase)part);

		sp_json_open(&j, NULL, '{');
		sp_json_string(&j, "part", name, strlen(name));
		sp_json_string(&j, "title", title, strlen(title));
		sp_json_close(&j, '}');
	}
	sp_json_close(&j, ']');
	sp_json_open(&j, "trainers", '[');
	for (uint32_t t = 0; t < report->training.count && t < SP_TIMELINE_LANES_MAX; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];
		const struct sp_stream *stream = report->run.index.streams[trainer->stream];

		sp_json_open(&j, NULL, '{');
		sp_json_count(&j, "pid", report->run.index.images[stream->image].pid);
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

static void put_timeline(FILE *f, const struct sp_report *report)
{
	struct sp_json j = {.file = f};

	if (sp_index_has_digested(&report->run.index)) {
		put_section_begin(f, "timeline", _("Timeline"),
				  _("A timeline needs events, and a digest has none."));
		fputs("</section>\n", f);
		return;
	}
	put_section_begin(f, "timeline", _("Timeline"),
			  _("The training thread, the workers that make its batches, and the "
			    "busiest other threads."));
	fprintf(f,
		"<div class=\"live\" id=\"lanes-chart\" hidden></div>\n"
		"<noscript><p class=\"line\">%s</p></noscript>\n"
		"<script type=\"application/json\" id=\"data-timeline\">",
		_("This page's script draws the timeline. Without scripts: stageprof-report "
		  "dump."));
	sp_timeline_json(&report->timeline, report, &j);
	fputs("</script></section>\n", f);
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
	return sp_account_section(report, out);
}

static int put_view(FILE *f, const struct sp_report *report, const char *name, show_function *show)
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

	put_section_begin(f, "account", _("Training time, by phase"),
			  _("Where the training threads' time went: each nanosecond once."));
	r = put_view(f, report, "account", show_account);
	fputs("</section>\n", f);
	return r;
}

/* The language as HTML names it: "zh-CN". */
static void page_language(char ret[PAGE_LANGUAGE_BYTES])
{
	snprintf(ret, PAGE_LANGUAGE_BYTES, "%s", sp_translate_code());
	for (char *p = ret; *p; p++)
		if (*p == '_')
			*p = '-';
}

#define NAME_BYTES 512u
#define COMMAND_BYTES 1024u
#define CARDS_MAX 3u

/* The facts of the run as a whole. */
struct page_head {
	struct sp_verdict *verdict;
	char name[NAME_BYTES]; /* of the run, escaped; "" where the caller has none */
	char command[COMMAND_BYTES];
};

static void name_run(struct page_head *head, const struct sp_view_options *options)
{
	const char *path = options->run_count ? options->run_names[0] : "";
	size_t bytes = strlen(path);
	const char *name;

	while (bytes && path[bytes - 1] == '/')
		bytes--;
	name = memrchr(path, '/', bytes);
	name = name ? name + 1 : path;
	sp_text_escape(head->name, sizeof(head->name), name, (size_t)(path + bytes - name));
}

/* The command of the trainer, else of the first process that has one. */
static void name_command(struct page_head *head, const struct sp_report *report)
{
	const struct sp_trainer *trainer = sp_training_main(&report->training);
	uint32_t image = trainer ? report->run.index.streams[trainer->stream]->image : 0;
	const struct sp_process_metadata *found = NULL;
	char text[COMMAND_BYTES] = "";
	size_t bytes;

	for (uint32_t i = 0; i < report->run.index.image_count; i++) {
		const struct sp_process_metadata *m = &report->run.metadata.images[i];

		if (m->command && (!found || (trainer && i == image)))
			found = m;
	}
	if (!found)
		return;
	bytes = found->command_bytes < sizeof(text) ? found->command_bytes : sizeof(text);
	for (size_t i = 0; i < bytes; i++)
		text[i] = found->command[i] ? found->command[i] : ' ';
	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	sp_text_escape(head->command, sizeof(head->command), text, bytes);
}

static void put_head(FILE *f, const struct page_head *head)
{
	char language[PAGE_LANGUAGE_BYTES];

	page_language(language);
	fprintf(f,
		"<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
		language, sp_page_policy);
	fputs(sp_rule_of(head->verdict->id)->code, f);
	fputs(" \342\200\223 ", f);
	sp_html_plain(f, *head->name ? head->name : _("stageprof report"));
	fprintf(f, "</title>\n<style>%s</style></head>\n<body>\n", sp_page_style);
}

static void put_link(FILE *f, const char *id, const char *title)
{
	fprintf(f, "<a href=\"#%s\">%s</a>", id, title);
}

static void put_navigation(FILE *f, const struct body *body)
{
	fprintf(f, "<nav aria-label=\"%s\">", _("Sections"));
	put_link(f, "verdict", _("Verdict"));
	put_link(f, "account", _("Phases"));
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (i == 2)
			put_link(f, "timeline", _("Timeline"));
		if (body->is_there[i])
			put_link(f, sections[i].view, _(sections[i].title));
	}
	put_link(f, "run", _("The run"));
	fputs("</nav>\n", f);
}

static void put_cards(FILE *f, const struct sp_verdict *v)
{
	char text[SP_VERDICT_TEXT_BYTES], saves[SP_SAVING_TEXT_BYTES];
	enum sp_advice_id order[SP_ADVICES];

	if (v->advice_count == 0)
		return;
	sp_advice_by_saving(v, order);
	fputs("<ol class=\"cards\">\n", f);
	for (uint32_t i = 0; i < v->advice_count && i < CARDS_MAX; i++) {
		struct sp_saving saving = sp_advice_saving(&v->metrics, order[i]);

		sp_advice_text(v, order[i], text, sizeof(text));
		sp_saving_text(&saving, saves, sizeof(saves));
		fprintf(f, "<li><strong>%s</strong> ", i ? _("Then") : _("Do this first"));
		if (*saves)
			fprintf(f, "<em class=\"saves\">%s</em> ", saves);
		sp_html_plain(f, text);
		fputs("</li>\n", f);
	}
	fputs("</ol>\n", f);
}

static const char *severity(const struct sp_verdict *v)
{
	bool is_fine = sp_rule_of(v->id)->is_state || v->id == SP_VERDICT_compute;

	return is_fine ? "fine" : v->is_severe ? "severe" : "moderate";
}

static int put_verdict(FILE *f, const struct sp_report *report, const struct sp_verdict *v)
{
	const char *name = severity(v);
	char text[SP_VERDICT_TEXT_BYTES];
	int r;

	fprintf(f, "<main>\n<section id=\"verdict\" class=\"%s\"><h2>", name);
	if (strcmp(name, "fine") != 0)
		fprintf(f, "<span class=\"badge\">%s</span> ",
			v->is_severe ? _("severe") : _("moderate"));
	sp_html_plain(f, v->text);
	sp_confidence_text(v, text, sizeof(text));
	fputs("</h2>\n<p class=\"about\">", f);
	sp_html_plain(f, text);
	fputs("</p>\n", f);
	sp_draw_account(f, report);
	if (sp_wait_text(&v->metrics, 0, text, sizeof(text)))
		fprintf(f, "<p class=\"sum\">%s%s</p>\n", _("input wait "), text);
	put_cards(f, v);
	fprintf(f, "<details><summary>%s</summary>\n", _("Evidence and confidence"));
	r = put_view(f, report, "verdict", show_verdict);
	fputs("</details></section>\n", f);
	return r;
}

/* How the run ended, and what of it the page shows. */
static void put_part(FILE *f, const struct sp_report *report)
{
	char text[SP_VERDICT_TEXT_BYTES];

	sp_ending_text(report, text, sizeof(text));
	if (*text) {
		fprintf(f, "<br>%s", _("ended      "));
		sp_html_plain(f, text);
	}
	if (sp_selection_text(report, text, sizeof(text))) {
		fprintf(f, "<br><strong>%s", _("only       "));
		sp_html_plain(f, text);
		fputs("</strong>", f);
	}
	if (sp_off_text(report, text, sizeof(text))) {
		fputs("<br>", f);
		sp_html_plain(f, text);
	}
}

static void put_top(FILE *f, const struct sp_report *report, const struct page_head *head,
		    const struct body *body)
{
	time_t begin = (time_t)(report->run.begin_ns / 1000000000);
	char when[64] = "";
	struct tm tm;

	if (gmtime_r(&begin, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fputs("<header><h1>", f);
	sp_html_plain(f, *head->name ? head->name : _("Where the training time went"));
	fputs("</h1><p class=\"when\">", f);
	if (*head->command) {
		fputs("<code>", f);
		sp_html_plain(f, head->command);
		fputs("</code> ", f);
	}
	fprintf(f, _("A run that began %s"), when);
	put_part(f, report);
	fputs("</p></header>\n", f);
	put_navigation(f, body);
}

static int put_run(FILE *f, const struct sp_report *report)
{
	int r;

	fprintf(f, "<section id=\"run\"><h2>%s</h2>\n", _("The run"));
	r = put_view(f, report, "run", show_run);
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

static int put_page(FILE *f, const struct sp_report *report, const struct page_head *head,
		    const struct body *body)
{
	int r;

	put_head(f, head);
	put_top(f, report, head, body);
	r = put_verdict(f, report, head->verdict);
	if (r == 0)
		r = put_account(f, report);
	for (size_t i = 0; r == 0 && i < SECTION_COUNT; i++) {
		/* The timeline stands between the steps and the rest. */
		if (i == 2)
			put_timeline(f, report);
		fwrite(body->pieces[i].text, 1, body->pieces[i].bytes, f);
	}
	if (r == 0)
		r = put_run(f, report);
	put_training(f, report);
	put_words(f);
	put_end(f);
	return r;
}

int sp_view_html(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct page_head *head = calloc(1, sizeof(*head));
	struct body *body = calloc(1, sizeof(*body));
	int r = head && body ? 0 : -ENOMEM;

	if (options->sort)
		r = -EINVAL;
	if (r == 0) {
		head->verdict = malloc(sizeof(*head->verdict));
		r = head->verdict ? sp_verdict_make(head->verdict, report, &report->wait_thresholds)
				  : -ENOMEM;
	}
	if (r == 0) {
		name_run(head, options);
		name_command(head, report);
		r = body_render(body, report);
	}
	if (r == 0)
		r = put_page(out->file, report, head, body);
	if (body)
		body_free(body);
	if (head)
		free(head->verdict);
	free(head);
	free(body);
	return r;
}
