/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/advice_line.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/sections/wait_section.h"
#include "analyzer/verdict/verdict_text.h"
#include "analyzer/views/view_verdict.h"
#include "analyzer/views/view_whatif.h"

#define LINE_BYTES 1280u

static void text_json(struct sp_json *j, const char *name, const char *text)
{
	if (text)
		sp_json_string(j, name, text, strlen(text));
	else
		sp_json_null(j, name);
}

static void evidence_json(const struct sp_verdict *v, struct sp_json *j)
{
	char text[SP_METRIC_TEXT_BYTES];

	sp_json_open(j, "evidence", '[');
	for (uint32_t i = 0; i < v->evidence_count; i++) {
		const struct sp_metric_about *m = sp_metric_about(v->evidence[i]);

		sp_metric_text(&v->metrics, v->evidence[i], text, sizeof(text));
		sp_json_open(j, NULL, '{');
		text_json(j, "metric", m->name);
		text_json(j, "measure", m->name); /* its name before 2026-11-28 */
		if (m->unit != SP_IN_TEXT)
			sp_json_share(j, "value", v->metrics.of[v->evidence[i]].value);
		else
			sp_json_null(j, "value");
		text_json(j, "shown", text);
		text_json(j, "title", _(m->title));
		text_json(j, "row", m->row);
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

static void also_json(const struct sp_verdict *v, struct sp_json *j)
{
	const char *shown = sp_rule_of(v->id)->code;

	sp_json_open(j, "also", '[');
	for (int i = 0; i < SP_VERDICTS; i++) {
		const struct sp_rule *rule = sp_rule_of((enum sp_verdict_id)i);

		if (v->holds[i] && i != SP_VERDICT_compute && !rule->reason &&
		    strcmp(rule->code, shown) != 0)
			sp_json_string(j, NULL, rule->code, strlen(rule->code));
	}
	sp_json_close(j, ']');
}

static void doubts_json(const struct sp_verdict *v, struct sp_json *j)
{
	char text[SP_DOUBT_TEXT_BYTES];

	sp_json_open(j, "doubts", '[');
	for (int i = 0; i < SP_DOUBTS; i++) {
		if (!v->doubts[i])
			continue;
		sp_doubt_text(v, (enum sp_doubt)i, text, sizeof(text));
		text_json(j, NULL, text);
	}
	sp_json_close(j, ']');
	sp_json_open(j, "doubt_ids", '[');
	for (int i = 0; i < SP_DOUBTS; i++)
		if (v->doubts[i])
			text_json(j, NULL, sp_doubt_id((enum sp_doubt)i));
	sp_json_close(j, ']');
}

/* null: the verdict has none, or the run does not give it. */
static void second_json(const struct sp_verdict *v, struct sp_json *j)
{
	if (!v->second.is_known) {
		sp_json_null(j, "second");
		return;
	}
	sp_json_open(j, "second", '{');
	text_json(j, "id", sp_second_id(v->second.id));
	sp_json_share(j, "claimed_share", v->second.claimed);
	sp_json_share(j, "found_share", v->second.found);
	sp_json_bool(j, "differs", v->second.differs);
	sp_json_close(j, '}');
}

static void saving_json(const struct sp_saving *saving, struct sp_json *j)
{
	const char *what_if = saving->is_known && saving->what_if != SP_WHAT_IFS
				      ? sp_what_if_name(saving->what_if)
				      : NULL;

	if (saving->is_known) {
		sp_json_share(j, "saves_least_share", saving->least);
		sp_json_share(j, "saves_most_share", saving->most);
	} else {
		sp_json_null(j, "saves_least_share");
		sp_json_null(j, "saves_most_share");
	}
	text_json(j, "what_if", what_if);
}

static void line_json(const struct sp_report *report, const struct sp_sampled_line *line,
		      enum sp_sampled_part part, struct sp_json *j)
{
	const struct sp_sampled_frame *frame = line ? &report->samples.frames[line->frame] : NULL;
	const char *text, *tab, *name = sp_sampled_part_name(part);
	size_t bytes;

	if (!line) {
		sp_json_null(j, "line");
		return;
	}
	text = sp_string_table_text(&report->samples.texts, frame->text, &bytes);
	tab = memchr(text, '\t', bytes); /* a frame without a file is no line */
	sp_json_open(j, "line", '{');
	sp_json_string(j, "part", name, strlen(name));
	sp_json_share(j, "share", line->share);
	sp_json_count(j, "samples", line->samples);
	sp_json_string(j, "function", tab + 1, bytes - (size_t)(tab + 1 - text));
	sp_json_string(j, "file", text, (size_t)(tab - text));
	sp_json_count(j, "line", frame->line);
	text_json(j, "caller", *line->caller ? line->caller : NULL);
	text_json(j, "callee", line->callee_share > 0 ? line->callee : NULL);
	if (line->callee_share > 0)
		sp_json_share(j, "callee_share", line->callee_share);
	else
		sp_json_null(j, "callee_share");
	sp_json_close(j, '}');
}

static void advice_json(const struct sp_report *report, const struct sp_verdict *v,
			struct sp_json *j)
{
	enum sp_advice_id order[SP_ADVICES];
	char text[SP_VERDICT_TEXT_BYTES];

	sp_advice_by_saving(v, order);
	sp_json_open(j, "advice", '[');
	for (uint32_t i = 0; i < v->advice_count; i++) {
		const struct sp_advice_rule *advice = sp_advice_rule_of(order[i]);
		struct sp_saving saving = sp_advice_saving(&v->metrics, order[i]);

		sp_advice_text(v, order[i], text, sizeof(text));
		sp_json_open(j, NULL, '{');
		sp_json_string(j, "id", advice->name, strlen(advice->name));
		sp_json_string(j, "text", text, strlen(text));
		saving_json(&saving, j);
		text_json(j, "costs", advice->costs ? _(advice->costs) : NULL);
		line_json(report, sp_advice_line(v, order[i]), sp_advice_part(order[i]), j);
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

static void verdict_json(const struct sp_report *report, const struct sp_verdict *v,
			 struct sp_json *j)
{
	const char *code = sp_rule_of(v->id)->code, *confidence = sp_confidence_name(v->confidence);

	sp_json_open(j, "verdict", '{');
	sp_json_string(j, "code", code, strlen(code));
	text_json(j, "reason", sp_rule_of(v->id)->reason);
	text_json(j, "rule", sp_rule_of(v->id)->id);
	text_json(j, "greatest_phase", v->greatest_share > 0 ? sp_part_name(v->greatest) : NULL);
	if (v->greatest_share > 0)
		sp_json_share(j, "greatest_share", v->greatest_share);
	else
		sp_json_null(j, "greatest_share");
	sp_json_string(j, "text", v->text, strlen(v->text));
	sp_json_bool(j, "severe", v->is_severe);
	text_json(j, "severity", sp_severity_name(v));
	sp_json_share(j, "cost_share", v->cost);
	sp_json_string(j, "confidence", confidence, strlen(confidence));
	doubts_json(v, j);
	second_json(v, j);
	also_json(v, j);
	evidence_json(v, j);
	sp_json_close(j, '}');
	advice_json(report, v, j);
}

static void show_confidence(const struct sp_verdict *v, struct sp_out *out)
{
	char line[LINE_BYTES];

	sp_confidence_text(v, SP_DOUBTS, line, sizeof(line));
	sp_out_wrapped(out, "           ", line);
}

static void show_evidence(const struct sp_verdict *v, struct sp_out *out)
{
	char text[SP_METRIC_TEXT_BYTES], line[LINE_BYTES];
	const char *head = N_("evidence   ");

	for (uint32_t i = 0; i < v->evidence_count; i++) {
		enum sp_metric_id m = v->evidence[i];

		sp_metric_text(&v->metrics, m, text, sizeof(text));
		snprintf(line, sizeof(line), _("%s: %s"), _(sp_metric_about(m)->title), text);
		sp_out_wrapped(out, head, line);
		head = "           ";
	}
}

/* Names of the rows of one table, where there are any. */
struct row_list {
	struct sp_out *out;
	char line[LINE_BYTES];
	size_t used, names;
};

static void begin_rows(struct row_list *list, struct sp_out *out, const char *table)
{
	list->out = out;
	list->names = 0;
	list->used = (size_t)snprintf(list->line, sizeof(list->line), "%s:", table);
}

static void add_row(struct row_list *list, const char *before, const char *name)
{
	if (list->used < sizeof(list->line))
		list->used +=
			(size_t)snprintf(list->line + list->used, sizeof(list->line) - list->used,
					 "%s%s%s", list->names++ ? ", " : " ", before, name);
}

static void end_rows(struct row_list *list, const char **head)
{
	if (!list->names)
		return;
	sp_out_wrapped(list->out, *head, list->line);
	*head = "           ";
}

static void show_rows(const struct sp_verdict *v, struct sp_out *out)
{
	const char *head = N_("rows       ");
	char name[160];
	struct row_list list;

	begin_rows(&list, out, "verdict.def");
	add_row(&list, "", sp_rule_of(v->id)->id);
	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && i != (int)v->id)
			add_row(&list, "+", sp_rule_of((enum sp_verdict_id)i)->id);
	end_rows(&list, &head);
	begin_rows(&list, out, "part.def");
	if (v->greatest_share > 0)
		add_row(&list, "", sp_part_name(v->greatest));
	end_rows(&list, &head);
	begin_rows(&list, out, "doubt.def");
	for (int i = 0; i < SP_DOUBTS; i++)
		if (v->doubts[i])
			add_row(&list, "", sp_doubt_id((enum sp_doubt)i));
	end_rows(&list, &head);
	begin_rows(&list, out, "advice.def");
	for (uint32_t i = 0; i < v->advice_count; i++)
		add_row(&list, "", sp_advice_rule_of(v->advice[i])->name);
	end_rows(&list, &head);
	begin_rows(&list, out, "metric.def");
	for (uint32_t i = 0; i < v->evidence_count; i++) {
		const struct sp_metric_about *m = sp_metric_about(v->evidence[i]);

		snprintf(name, sizeof(name), "%s (%s)", m->name, m->row);
		add_row(&list, "", name);
	}
	end_rows(&list, &head);
}

static void verdict_lines(const struct sp_verdict *v, struct sp_out *out)
{
	char text[SP_VERDICT_TEXT_BYTES + SP_SAVING_TEXT_BYTES];
	const char *head = N_("advice     ");
	enum sp_advice_id order[SP_ADVICES];

	sp_out_wrapped(out, "verdict    ", v->text);
	show_confidence(v, out);
	show_evidence(v, out);
	sp_advice_by_saving(v, order);
	for (uint32_t i = 0; i < v->advice_count; i++) {
		sp_advice_saved_text(v, order[i], false, text, sizeof(text));
		sp_out_wrapped(out, head, text);
		head = "           ";
	}
}

int sp_verdict_show(const struct sp_report *report, struct sp_out *out, bool with_rows)
{
	struct sp_verdict *v = malloc(sizeof(*v));
	int r = v ? sp_verdict_make(v, report, &report->wait_thresholds) : -ENOMEM;

	if (r == 0) {
		if (out->format == SP_FORMAT_JSON)
			verdict_json(report, v, &out->json);
		verdict_lines(v, out);
		if (with_rows)
			show_rows(v, out);
		sp_wait_section(&v->metrics, out);
		r = sp_what_if_show(&v->metrics, out);
		sp_out_line(out, "%s", "");
	}
	free(v);
	return r;
}
