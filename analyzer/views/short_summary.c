/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/short_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/report/tails_away.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/text/text.h"
#include "analyzer/text/wrap.h"
#include "analyzer/verdict/advice_line.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/verdict_text.h"
#include "analyzer/sections/ending.h"
#include "analyzer/sections/shown_part.h"
#include "analyzer/sections/steps_section.h"
#include "analyzer/sections/top_stages.h"
#include "analyzer/sections/wait_section.h"
#include "analyzer/training/training_account.h"
#include "analyzer/verdict/step_change.h"

#define LINE_BYTES 1280u
#define WIDTH_LEAST 40u
#define WIDTH_MOST 100u /* longer lines are hard to read */
#define VERDICT_LINES_MAX 4u
#define VERDICT_LINES_LEAST 3u
#define STEP_LINES 2u	      /* a step, and the bar */
#define VERDICT_LINES_MOST 6u /* of a long sentence */
#define ADVICE_LINES_MAX 3u
#define WHERE_LINES_MAX 4u
#define STAGE_LINES_MAX 2u
#define ADVICE_MAX 3u
#define BAR_LEAST 0.02 /* of the training time: less has no part of its own */
#define BAR_REST_LEAST 0.005
#define AGAINST_LINES 3u
#define BETWEEN_SHOWN 0.03 /* of the time: beyond the interval of the steps */
#define CUT_MARK "..."
#define LABEL_BYTES 96u
#define CONFIDENCE_BYTES 512u
#define WAITS_DIFFER_LEAST 0.01
#define STYLE_BOLD "\033[1m"
#define STYLE_RED "\033[1;31m"
#define STYLE_YELLOW "\033[1;33m"
#define STYLE_END "\033[0m"

struct screen {
	char lines[SP_SHORT_LINES_MAX][2 * LINE_BYTES];
	struct head {
		const char *style; /* an escape of terminals; NULL: none */
		size_t bytes;
	} heads[SP_SHORT_LINES_MAX];
	unsigned count, room, width; /* room: lines, at most SP_SHORT_LINES_MAX */
};

/* Adds the text after its head, in lines as wide as the terminal; most: how many, at most. A text
 * that is cut ends in "...". */
static void add(struct screen *screen, const char *head, const char *text, unsigned most)
{
	char rest[LINE_BYTES + sizeof(CUT_MARK)];
	size_t indent = sp_text_width(head), room = screen->width - indent;

	for (unsigned i = 0; *text && i < most && screen->count < screen->room; i++) {
		bool is_last = i + 1 == most || screen->count + 1 == screen->room;
		char *line = screen->lines[screen->count++];
		size_t n;

		snprintf(rest, LINE_BYTES, "%.*s", (int)LINE_BYTES - 1, text);
		is_last = is_last && sp_text_width(rest) > room;
		n = sp_wrap(rest, is_last ? room - strlen(CUT_MARK) : room);
		while (is_last && n && rest[n - 1] == ' ')
			n--;
		strcpy(rest + n, is_last ? CUT_MARK : "");
		snprintf(line, 2 * LINE_BYTES, "%s%*s%s", i ? "" : head, i ? (int)indent : 0, "",
			 rest);
		text += n;
		text += strspn(text, " ");
	}
}

static void style(struct screen *screen, unsigned line, const char *head, const char *style)
{
	if (line < screen->count)
		screen->heads[line] = (struct head){style, strlen(head)};
}

static const char *style_of(const struct sp_verdict *v)
{
	return !sp_severity_name(v) ? STYLE_BOLD : v->is_severe ? STYLE_RED : STYLE_YELLOW;
}

static unsigned advice_shown(const struct sp_verdict *v)
{
	return v->advice_count < ADVICE_MAX ? v->advice_count : ADVICE_MAX;
}

/* The lines that the text takes after a head of this width, counted up to `most`. */
static unsigned lines_of(const struct screen *screen, size_t indent, const char *text,
			 unsigned most)
{
	unsigned lines = 0;

	while (*text && lines < most) {
		text += sp_wrap(text, screen->width - indent);
		text += strspn(text, " ");
		lines++;
	}
	return lines;
}

/* Reasons of the confidence but the first give way to the advice, the last ones first. */
static void add_verdict(struct screen *screen, const struct sp_verdict *v, unsigned reserved)
{
	const char *head = _("verdict    ");
	unsigned later = STEP_LINES + advice_shown(v) + reserved, doubts = SP_DOUBTS;
	unsigned most = screen->room > later ? screen->room - later : 0;
	char text[LINE_BYTES], confidence[CONFIDENCE_BYTES];

	most = most < VERDICT_LINES_LEAST ? VERDICT_LINES_LEAST
	       : most < VERDICT_LINES_MAX ? most
					  : VERDICT_LINES_MAX;
	do {
		sp_confidence_text(v, doubts, confidence, sizeof(confidence));
		snprintf(text, sizeof(text), _("%s [%s]"), v->text, confidence);
	} while (lines_of(screen, sp_text_width(head), text, most + 1) > most && doubts-- > 1);
	add(screen, head, text, VERDICT_LINES_MOST);
	style(screen, 0, head, style_of(v));
}

struct part {
	const char *title;
	double share;
};

/* The phases of the training time that are wide enough to show, and the rest as one. */
static unsigned find_parts(const struct sp_report *report, struct part parts[SP_ACCOUNT_PHASES + 1])
{
	struct sp_account sum = sp_training_account(&report->training);
	double total = (double)sp_account_total(&sum), rest = 0;
	unsigned count = 0;

	for (int i = 0; total > 0 && i < SP_ACCOUNT_PHASES; i++) {
		double share = (double)sum.ns[i] / total;

		if (i == SP_ACCOUNT_other || share < BAR_LEAST)
			rest += share;
		else
			parts[count++] =
				(struct part){sp_account_title((enum sp_account_phase)i), share};
	}
	if (count && rest >= BAR_REST_LEAST)
		parts[count++] = (struct part){sp_account_title(SP_ACCOUNT_other), rest};
	return count;
}

/* The title and its share, its first word and the share, the share alone, or nothing: what fits. */
static void label(const struct part *part, size_t room, char ret[LABEL_BYTES])
{
	snprintf(ret, LABEL_BYTES, "%s %.0f%%", part->title, 100 * part->share);
	if (sp_text_width(ret) > room)
		snprintf(ret, LABEL_BYTES, "%.*s %.0f%%", (int)strcspn(part->title, " ,"),
			 part->title, 100 * part->share);
	if (sp_text_width(ret) > room)
		snprintf(ret, LABEL_BYTES, "%.0f%%", 100 * part->share);
	if (sp_text_width(ret) > room)
		*ret = '\0';
}

static bool is_named(const struct part *part, const char *label)
{
	return strncmp(label, part->title, strlen(part->title)) == 0;
}

/* "|loader wait 20%---|forward 22%----|backward 43%-----------|"
 * unnamed: the parts whose title does not stand there, in the order of the bar. */
static void add_bar(struct screen *screen, const struct sp_report *report, char unnamed[LINE_BYTES])
{
	const char *head = _("training   ");
	struct sp_account sum = sp_training_account(&report->training);
	struct part parts[SP_ACCOUNT_PHASES + 1];
	unsigned count = find_parts(report, parts);
	char line[LINE_BYTES], ns[SP_NUMBER_BYTES];
	size_t used, room, shown = 0, named = 0;
	double at = 0;

	*unnamed = '\0';
	if (!count)
		return;
	used = (size_t)snprintf(line, sizeof(line), "%s |", sp_text_ns(ns, sp_account_total(&sum)));
	room = screen->width - sp_text_width(head) - sp_text_width(line);
	for (unsigned i = 0; i < count; i++) {
		size_t end, fill;
		char text[LABEL_BYTES];

		at += parts[i].share;
		end = i + 1 == count ? room : (size_t)(at * (double)room + 0.5);
		fill = end > shown + 1 ? end - shown - 1 : 0;
		label(&parts[i], fill, text);
		if (!is_named(&parts[i], text) && parts[i].share >= BAR_LEAST)
			named += (size_t)snprintf(unnamed + named, LINE_BYTES - named,
						  "%s%s %.0f%%", named ? "; " : "", parts[i].title,
						  100 * parts[i].share);
		if (end <= shown) /* narrower than half a column */
			continue;
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s", text);
		for (fill -= sp_text_width(text); fill && used + 2 < sizeof(line); fill--)
			line[used++] = '-';
		line[used++] = '|';
		line[used] = '\0';
		shown = end;
	}
	add(screen, head, line, 1);
}

static bool shows_wait(const struct sp_verdict *v)
{
	return SP_ANY(i, v->evidence_count,
		      v->evidence[i] == SP_METRIC_input_wait_share ||
			      v->evidence[i] == SP_METRIC_lost_wait_share);
}

/* The verdict and the bar name two shares of waiting; the summary has this line under its table. */
static void add_wait(struct screen *screen, const struct sp_verdict *v)
{
	char text[256];

	if (shows_wait(v) && sp_wait_text(&v->metrics, WAITS_DIFFER_LEAST, text, sizeof(text)))
		add(screen, _("input wait "), text, 1);
}

static void add_step(struct screen *screen, const struct sp_report *report)
{
	char step[SP_STEP_TEXT_BYTES];

	sp_step_text(step, report, true);
	if (*step)
		add(screen, _("a step     "), step, 1);
}

/* The end of the last sentence but one; NULL: there is one sentence. */
static char *end_before_last(char *text)
{
	static const char *const ends[] = {". ", "\u3002"};
	char *last = NULL;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t stop = i ? strlen(ends[i]) : 1;

		for (char *at = strstr(text, ends[i]); at; at = strstr(at + stop, ends[i]))
			if (at[stop] && (!last || at + stop > last))
				last = at + stop;
	}
	return last;
}

static bool ends_sentence(const char *text)
{
	size_t bytes = strlen(text), stop = strlen("\u3002");

	return bytes && (text[bytes - 1] == '.' ||
			 (bytes >= stop && strcmp(text + bytes - stop, "\u3002") == 0));
}

/* Later sentences give way, then the reason of the only one: the text ends where a sense ends. */
static void shorten(const struct screen *screen, size_t indent, char *text, unsigned most)
{
	while (lines_of(screen, indent, text, most + 1) > most) {
		char *end = end_before_last(text);

		if (!end)
			end = strstr(text, _(": "));
		if (!end)
			return;
		*end = '\0';
		if (!ends_sentence(text))
			strcpy(end, _("."));
	}
}

/* Returns the number of lines. Beyond `most`, the text leaves out what the function calls. */
static unsigned line_text(const struct screen *screen, const struct sp_verdict *v,
			  enum sp_advice_id advice, unsigned most, char ret[SP_LINE_TEXT_BYTES])
{
	size_t indent = sp_text_width(_("where      "));

	*ret = '\0';
	if (v->names_line[advice])
		sp_sampled_line_text(sp_advice_line(v, advice), true, ret);
	if (lines_of(screen, indent, ret, most + 1) > most)
		sp_sampled_line_text(sp_advice_line(v, advice), false, ret);
	return lines_of(screen, indent, ret, WHERE_LINES_MAX);
}

/* The advice in the order of its saving, each with its line, and none cut: the last pieces give
 * way. first_costs: a line after the first. */
static void add_pieces(struct screen *screen, const struct sp_verdict *v,
		       const enum sp_advice_id *order, unsigned reserved, const char *first_costs)
{
	unsigned shown = advice_shown(v);

	for (unsigned i = 0; i < shown; i++) {
		const char *head = i ? _("then       ") : _("do first   ");
		unsigned begin = screen->count, used = begin + reserved, lines;
		unsigned left = screen->room > used ? screen->room - used : 0;
		char text[LINE_BYTES], line[SP_LINE_TEXT_BYTES];

		lines = line_text(screen, v, order[i],
				  left > ADVICE_LINES_MAX ? left - ADVICE_LINES_MAX : 0, line);
		left = left > lines ? left - lines : 0;
		sp_advice_saved_text(v, order[i], true, text, sizeof(text));
		shorten(screen, sp_text_width(head), text,
			left < ADVICE_LINES_MAX ? left : ADVICE_LINES_MAX);
		lines = lines_of(screen, sp_text_width(head), text, screen->room);
		if (i && lines > left)
			break;
		add(screen, head, text, lines);
		style(screen, begin, head, i ? NULL : STYLE_BOLD);
		add(screen, _("where      "), line, WHERE_LINES_MAX);
		add(screen, _("costs      "), i ? "" : first_costs, screen->room);
	}
}

/* The costs of the first advice give way to all other advice. */
static void add_advice(struct screen *screen, const struct sp_verdict *v, unsigned reserved)
{
	enum sp_advice_id order[SP_ADVICES];
	unsigned begin = screen->count, lines;
	const char *costs;

	if (!v->advice_count)
		return;
	sp_advice_by_saving(v, order);
	add_pieces(screen, v, order, reserved, "");
	costs = sp_advice_rule_of(order[0])->costs;
	lines = costs ? lines_of(screen, sp_text_width(_("costs      ")), _(costs), screen->room)
		      : 0;
	if (!lines || screen->count + lines + reserved > screen->room)
		return;
	screen->count = begin;
	add_pieces(screen, v, order, reserved, _(costs));
}

static bool has_losses(const struct sp_report *report)
{
	return report->totals.lost || report->totals.missing || sp_index_unread(&report->run.index);
}

static void add_losses(struct screen *screen, const struct sp_report *report)
{
	char text[LINE_BYTES], a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];
	uint64_t lost = report->totals.lost + report->totals.missing;

	if (!has_losses(report))
		return;
	sp_text_count(a, lost);
	sp_text_count(b, report->totals.events + lost);
	if (report->totals.lost_full)
		snprintf(text, sizeof(text),
			 _("%s of %s events: the trace could not grow (no space, or a limit)"), a,
			 b);
	else if (lost)
		snprintf(text, sizeof(text),
			 sp_translate_plural("%s of %s event", "%s of %s events",
					     report->totals.events + lost),
			 a, b);
	else
		snprintf(text, sizeof(text),
			 sp_translate_plural("%s of %s file could not be read",
					     "%s of %s files could not be read",
					     report->run.index.file_count),
			 sp_text_count(a, sp_index_unread(&report->run.index)),
			 sp_text_count(b, report->run.index.file_count));
	add(screen, _("lost       "), text, 1);
}

/* The memory of a machine, or of a container, keeps what is not in the files yet. */
static void add_away(struct screen *screen, const struct sp_report *report)
{
	char text[LINE_BYTES], host[LINE_BYTES / 2], a[SP_NUMBER_BYTES];

	if (!report->totals.tails_away)
		return;
	if (sp_tails_were_here(report)) {
		snprintf(text, sizeof(text),
			 sp_translate_plural("the last events of %s thread: its file was cut, or "
					     "this machine restarted since",
					     "the last events of %s threads: their files were cut, "
					     "or this machine restarted since",
					     report->totals.tails_away),
			 sp_text_count(a, report->totals.tails_away));
		add(screen, _("not here   "), text, 1);
		return;
	}
	sp_tails_away_host(report, host, sizeof(host));
	snprintf(text, sizeof(text),
		 sp_translate_plural("the last events of %s thread: make a report on %s first",
				     "the last events of %s threads: make a report on %s first",
				     report->totals.tails_away),
		 sp_text_count(a, report->totals.tails_away), *host ? host : _("their hosts"));
	add(screen, _("not here   "), text, 1);
}

/* A run without an account has the time of its stages. */
static void add_stages(struct screen *screen, const struct sp_report *report)
{
	struct sp_account sum = sp_training_account(&report->training);
	char text[LINE_BYTES];

	if (sp_account_total(&sum))
		return;
	sp_top_stages_text(report, text, sizeof(text));
	add(screen, _("stages     "), text, STAGE_LINES_MAX);
}

/* The figures above are of this part, and leave this out. */
static void add_part(struct screen *screen, const struct sp_report *report)
{
	char text[LINE_BYTES];

	if (sp_selection_text(report, text, sizeof(text)))
		add(screen, _("only       "), text, 1);
	if (sp_off_text(report, text, sizeof(text)))
		add(screen, _("off        "), text, 1);
}

static void add_ending(struct screen *screen, const struct sp_report *report)
{
	char text[LINE_BYTES];

	sp_ending_text(report, text, sizeof(text));
	add(screen, _("ended      "), text, 1);
}

/* All training time by the number of steps; 0: there are none. */
static uint64_t ns_by_steps(const struct sp_report *report)
{
	struct sp_account sum = sp_training_account(&report->training);
	struct sp_step_stats stats;

	return sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &stats) == 0 &&
			       stats.count
		       ? sp_account_total(&sum) / stats.count
		       : 0;
}

/* Validation and checkpoints between steps are in no step: a change of them shows here alone. */
static void add_between(char *text, size_t bytes, const struct sp_ratio *steps, uint64_t before_ns,
			uint64_t ns)
{
	double ratio = (double)ns / (double)before_ns;
	char before[SP_NUMBER_BYTES], now[SP_NUMBER_BYTES];
	size_t used = strlen(text);

	if (ratio > steps->low - BETWEEN_SHOWN && ratio < steps->high + BETWEEN_SHOWN)
		return;
	sp_text_ns(before, before_ns);
	sp_text_ns(now, ns);
	snprintf(text + used, bytes - used,
		 /* Translators: two times; follows the speed-up of the steps. */
		 _("; all training time by the number of steps: %s, before %s"), now, before);
}

static int add_change(struct screen *screen, const struct sp_view_options *options)
{
	static const char *const words[] = {
		[SP_CHANGE_SAME] = N_("no difference beyond chance"),
		[SP_CHANGE_SLOWER] = N_("slower"),
		[SP_CHANGE_FASTER] = N_("faster"),
	};
	struct sp_step_change change;
	char text[LINE_BYTES], name[256];
	uint64_t ns, before_ns;
	int r;

	if (!options->against)
		return 0;
	r = sp_step_change_find(&options->runs[1], &options->runs[0], &change);
	ns = ns_by_steps(&options->runs[0]);
	before_ns = ns_by_steps(&options->runs[1]);
	if (r < 0 || !ns || !before_ns)
		return r;
	sp_text_escape(name, sizeof(name), options->against, strlen(options->against));
	if (change.change == SP_CHANGE_UNKNOWN)
		snprintf(text, sizeof(text), _("%s: a comparison needs %u steps of each run"), name,
			 SP_COMPARED_STEPS_MIN);
	else
		snprintf(text, sizeof(text),
			 _("%s: steps: %s, speed-up %.3f (95%% interval %.3f to %.3f)"), name,
			 _(words[change.change]), 1 / change.ratio.value, 1 / change.ratio.high,
			 1 / change.ratio.low);
	if (change.change != SP_CHANGE_UNKNOWN)
		add_between(text, sizeof(text), &change.ratio, before_ns, ns);
	add(screen, _("against    "), text, AGAINST_LINES);
	return 0;
}

/* Lines that nothing else needs; the summary has what they say under the screen. */
enum { WAIT_LINE = 1, PARTS_LINE = 2 };

static int fill(struct screen *screen, const struct sp_report *report, const struct sp_verdict *v,
		const struct sp_view_options *options, unsigned extras)
{
	/* Lines that come after the advice. */
	unsigned reserved = 1u + has_losses(report) + (report->totals.tails_away != 0) +
			    AGAINST_LINES * (options->against != NULL);
	char unnamed[LINE_BYTES];

	screen->count = 0;
	memset(screen->heads, 0, sizeof(screen->heads));
	add_verdict(screen, v, reserved);
	add_step(screen, report);
	add_bar(screen, report, unnamed);
	if (extras & PARTS_LINE)
		add(screen, _("in the bar "), unnamed, 1);
	add_stages(screen, report);
	add_part(screen, report);
	if (extras & WAIT_LINE)
		add_wait(screen, v);
	add_advice(screen, v, reserved);
	add_ending(screen, report);
	add_losses(screen, report);
	add_away(screen, report);
	return add_change(screen, options);
}

static int make(struct screen *screen, const struct sp_report *report, const struct sp_verdict *v,
		const struct sp_view_options *options)
{
	unsigned shown = 0;
	int r = fill(screen, report, v, options, shown);

	for (unsigned extra = WAIT_LINE; r == 0 && !options->is_brief && extra <= PARTS_LINE;
	     extra *= 2) {
		unsigned count = screen->count;

		r = fill(screen, report, v, options, shown | extra);
		if (screen->count == count + 1)
			shown |= extra;
		else if (r == 0) /* it has nothing to say, or advice would give way */
			r = fill(screen, report, v, options, shown);
	}
	return r;
}

static void show_line(const struct screen *screen, unsigned i, struct sp_out *out)
{
	const struct head *head = &screen->heads[i];
	const char *line = screen->lines[i];

	if (out->format == SP_FORMAT_TABLE && out->color && head->style)
		fprintf(out->file, "%s%.*s" STYLE_END "%s\n", head->style, (int)head->bytes, line,
			line + head->bytes);
	else
		sp_out_line(out, "%s", line);
}

int sp_short_summary_show(const struct sp_report *report, struct sp_out *out,
			  const struct sp_view_options *options, unsigned lines_max)
{
	struct screen *screen = calloc(1, sizeof(*screen));
	struct sp_verdict *v = malloc(sizeof(*v));
	int r = screen && v ? sp_verdict_make(v, report, &report->wait_thresholds) : -ENOMEM;

	if (r == 0) {
		screen->width = out->width && out->width < WIDTH_MOST ? out->width : WIDTH_MOST;
		screen->width = screen->width < WIDTH_LEAST ? WIDTH_LEAST : screen->width;
		screen->room = lines_max;
		r = make(screen, report, v, options);
	}
	for (unsigned i = 0; r == 0 && i < screen->count; i++)
		show_line(screen, i, out);
	r = r < 0 ? r : (int)screen->count;
	free(screen);
	free(v);
	return r;
}
