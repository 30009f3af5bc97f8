/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/explain.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/error.h"
#include "analyzer/text/spelling.h"
#include "analyzer/text/translate.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/verdict_text.h"

#define SAYS_BYTES 256u
#define SHOWN_BYTES 64u
#define CODE_COLUMN 21u /* of the page of codes */

enum { CODE, REASON, SHOWN, COST, FROM, SEVERE, SIGN, LEAST, MEANING, REMEDY, CELLS };

static const struct sp_column columns[CELLS] = {
	[CODE] = {"code", NULL, SP_CELL_TEXT},
	[REASON] = {"reason", NULL, SP_CELL_TEXT},
	[SHOWN] = {NULL, N_("code"), SP_CELL_WORD},
	[COST] = {"cost", N_("measured by"), SP_CELL_TEXT},
	[FROM] = {"from_share", N_("from"), SP_CELL_SHARE},
	[SEVERE] = {"severe_share", N_("severe"), SP_CELL_SHARE},
	[SIGN] = {"sign", N_("and"), SP_CELL_TEXT},
	[LEAST] = {"sign_least", N_("from"), SP_CELL_TEXT},
	[MEANING] = {"meaning", NULL, SP_CELL_TEXT},
	[REMEDY] = {"remedy", NULL, SP_CELL_TEXT},
};

static const char *metric_of(const struct sp_rule *rule, enum sp_metric_id metric)
{
	return rule->is_state || metric == SP_METRIC_steps ? NULL : sp_metric_about(metric)->name;
}

static int show_row(struct sp_out *out, const struct sp_rule *rule)
{
	char least[32] = "", shown[SHOWN_BYTES];
	const char *sign = metric_of(rule, rule->sign);
	struct sp_cell cells[CELLS] = {
		[CODE] = sp_cell_text(rule->code),
		[REASON] = sp_cell_text(rule->reason),
		[COST] = sp_cell_text(metric_of(rule, rule->cost)),
		[FROM] = rule->is_state ? sp_cell_null() : sp_cell_share(rule->moderate),
		[SEVERE] = rule->is_state ? sp_cell_null() : sp_cell_share(rule->severe),
		[SIGN] = sp_cell_text(sign),
		[LEAST] = sp_cell_null(),
		[MEANING] = sp_cell_text(rule->meaning),
		[REMEDY] = sp_cell_text(rule->remedy),
	};

	snprintf(shown, sizeof(shown), rule->reason ? "%s: %s" : "%s", rule->code, rule->reason);
	cells[SHOWN] = sp_cell_text(shown);
	if (sign) {
		snprintf(least, sizeof(least), "%g", rule->least_sign);
		cells[LEAST] = sp_cell_text(least);
	}
	return sp_out_row(out, cells);
}

/* Reasons of cannot-tell were codes, and `unknown` is now `unexplained`. */
static bool has_code(int id, const char *code)
{
	const struct sp_rule *rule = sp_rule_of((enum sp_verdict_id)id);
	const char *reason = strcmp(code, "unknown") == 0 ? "unexplained" : code;

	return strcmp(rule->code, code) == 0 || (rule->reason && strcmp(rule->reason, reason) == 0);
}

static int show_table(struct sp_out *out, const char *code)
{
	int r = sp_out_table(out, "verdicts", NULL, columns, CELLS, true);

	for (int i = 0; r == 0 && i < SP_VERDICTS; i++) {
		if (!code || has_code(i, code))
			r = show_row(out, sp_rule_of((enum sp_verdict_id)i));
	}
	if (r == 0)
		sp_out_table_end(out);
	return r;
}

/* v: of the run that was named; NULL: none was. */
static void show_metric(struct sp_out *out, enum sp_metric_id metric, const struct sp_verdict *v)
{
	char value[SP_METRIC_TEXT_BYTES];

	sp_out_line(out, "    %s: %s", sp_metric_about(metric)->name,
		    _(sp_metric_about(metric)->title));
	sp_out_line(out, "        read from %s", sp_metric_about(metric)->row);
	if (!v)
		return;
	sp_metric_text(&v->metrics, metric, value, sizeof(value));
	sp_out_line(out, "        in this run: %s", value);
}

static void show_metrics(struct sp_out *out, const struct sp_rule *rule, const struct sp_verdict *v)
{
	sp_out_line(out, "evidence");
	show_metric(out, rule->cost, v);
	if (rule->sign != SP_METRIC_steps)
		show_metric(out, rule->sign, v);
	sp_out_line(out, "thresholds");
	if (rule->refines == SP_VERDICT_compute)
		sp_out_line(out, "    given where no other rule holds");
	else
		sp_out_line(out, "    given from %g%% of the training time on, severe from %g%%",
			    100 * rule->moderate, 100 * rule->severe);
	if (rule->sign != SP_METRIC_steps)
		sp_out_line(out, "    %s at least %g", sp_metric_about(rule->sign)->name,
			    rule->least_sign);
	if (rule->cost == SP_METRIC_lost_wait_share)
		sp_out_line(out, "    --wait-thresholds sets other percents");
}

/* The columns of advice.def that are expressions. */
static const struct {
	const char *metric;
	double least, most;
	const char *when, *saves, *unless;
} advice_rows[SP_ADVICES] = {
#define SP_ADVICE(id, verdict, metric, least, most, when, saves, unless, costs, text)              \
	[SP_ADVICE_##id] = {#metric, least, most, #when, #saves, #unless},
#include "analyzer/verdict/advice.def"
};

static void show_advice_row(struct sp_out *out, int i)
{
	sp_out_line(out, "        SP_ADVICE(%s): %s from %g to %g; when %s; saves %s; unless %s",
		    sp_advice_rule_of((enum sp_advice_id)i)->name, advice_rows[i].metric,
		    advice_rows[i].least, advice_rows[i].most, advice_rows[i].when,
		    advice_rows[i].saves, advice_rows[i].unless);
}

static void show_advice(struct sp_out *out, enum sp_verdict_id id, bool with_rows)
{
	bool any = false;

	for (int i = 0; i < SP_ADVICES; i++) {
		const struct sp_advice_rule *advice = sp_advice_rule_of((enum sp_advice_id)i);

		if (advice->verdict != id)
			continue;
		if (!any)
			sp_out_line(out, "advice, where the metrics are known");
		any = true;
		sp_out_wrapped(out, "    ", _(advice->text));
		if (with_rows)
			show_advice_row(out, i);
	}
}

static void show_advice_given(struct sp_out *out, enum sp_verdict_id id, const struct sp_verdict *v)
{
	char text[SP_VERDICT_TEXT_BYTES + SP_SAVING_TEXT_BYTES];
	enum sp_advice_id order[SP_ADVICES];
	bool any = false;

	sp_advice_by_saving(v, order);
	for (uint32_t i = 0; i < v->advice_count; i++) {
		if (sp_advice_rule_of(order[i])->verdict != id)
			continue;
		if (!any)
			sp_out_line(out, "advice for this run");
		any = true;
		sp_advice_saved_text(v, order[i], false, text, sizeof(text));
		sp_out_wrapped(out, "    ", text);
	}
	if (!any && !sp_rule_of(id)->is_state)
		sp_out_line(out, "no advice of this verdict applies to this run");
}

static bool holds(const struct sp_verdict *v, int id)
{
	return (int)v->id == id || v->holds[id];
}

/* A state does not hold beside another verdict. */
static const char *place_in_run(const struct sp_verdict *v, enum sp_verdict_id id)
{
	if (v->id == id)
		return _("this is the verdict on this run");
	return v->holds[id] ? _("this holds in this run, but another verdict says more")
			    : _("this does not hold in this run");
}

static void show_text(struct sp_out *out, enum sp_verdict_id id, const struct sp_verdict *v,
		      bool with_rows)
{
	const struct sp_rule *rule = sp_rule_of(id);
	char sentence[SP_VERDICT_TEXT_BYTES], head[SHOWN_BYTES];

	if (v && holds(v, (int)id))
		sp_verdict_sentence(v, id, sentence, sizeof(sentence));
	else
		snprintf(sentence, sizeof(sentence), "%s", _(rule->sentence));
	snprintf(head, sizeof(head), rule->reason ? "%s: %s" : "%s", rule->code, rule->reason);
	sp_out_line(out, "%s (%s)", head, rule->id);
	sp_out_line(out, "%s", "");
	if (v)
		sp_out_wrapped(out, "here  ", place_in_run(v, id));
	sp_out_wrapped(out, "says  ", sentence);
	sp_out_wrapped(out, "means ", _(rule->meaning));
	sp_out_wrapped(out, "do    ", _(rule->remedy));
	if (!rule->is_state)
		show_metrics(out, rule, v);
	if (v)
		show_advice_given(out, id, v);
	else
		show_advice(out, id, with_rows);
	sp_out_line(out, "%s", "");
}

/* The errors of both programs. */
static const struct sp_error_text errors[] = {
#define SP_REPORT_ERROR(id, code, why, fix) {"stageprof-report", code, why, fix},
#include "analyzer/text/errors.def"
#undef SP_REPORT_ERROR
#define SP_LAUNCHER_ERROR(id, code, what, fix) {"stageprof", code, what, fix},
#include "scripts/launcher/launcher_errors.def"
#undef SP_LAUNCHER_ERROR
};

#define ERROR_COUNT (sizeof(errors) / sizeof(errors[0]))
#define SAYS_BYTES 256u
#define MEANT_MAX 4u
#define MEANT_ERRORS_MAX 2u
#define MEANT_PART_BYTES_LEAST 4u /* "sync", not "b" */

static const struct sp_column error_columns[] = {
	{"code", N_("code"), SP_CELL_TEXT},
	{"program", N_("program"), SP_CELL_TEXT},
	{"says", N_("says"), SP_CELL_TEXT},
	{"remedy", NULL, SP_CELL_TEXT},
};

/* The launcher's errors name a thing after their text. */
static const char *says_of(const struct sp_out *out, const struct sp_error_text *error,
			   char ret[SAYS_BYTES])
{
	bool names = strcmp(error->program, "stageprof") == 0 && sp_out_is_read(out);

	snprintf(ret, SAYS_BYTES, names ? "%s …" : "%s",
		 *error->says ? _(error->says) : _("the system's own text"));
	return ret;
}

static int show_errors(struct sp_out *out, const char *code)
{
	int r = sp_out_table(out, "errors", NULL, error_columns, 4, code != NULL);

	for (size_t i = 0; r == 0 && i < ERROR_COUNT; i++) {
		const struct sp_error_text *error = &errors[i];
		char says[SAYS_BYTES];
		struct sp_cell cells[] = {
			sp_cell_text(error->code),
			sp_cell_text(error->program),
			sp_cell_text(says_of(out, error, says)),
			sp_cell_text(_(error->fix)),
		};

		if (!code || strcmp(code, error->code) == 0)
			r = sp_out_row(out, cells);
	}
	if (r == 0)
		sp_out_table_end(out);
	return r;
}

/* Returns -EINVAL where no error has this code. */
static int explain_error(struct sp_out *out, const char *code)
{
	const struct sp_error_text *error;
	char says[SAYS_BYTES];
	size_t i = 0;

	while (i < ERROR_COUNT && strcmp(errors[i].code, code) != 0)
		i++;
	if (i == ERROR_COUNT)
		return -EINVAL;
	error = &errors[i];
	if (out->format != SP_FORMAT_TABLE)
		return show_errors(out, code);
	sp_out_line(out, "%s", code);
	sp_out_line(out, "%s", "");
	sp_out_wrapped(out, "from  ", error->program);
	sp_out_wrapped(out, "says  ", says_of(out, error, says));
	sp_out_wrapped(out, "do    ", _(error->fix));
	return 0;
}

/* Several verdicts have one code: of a run those that hold are shown, or all where none does. */
static bool show_code(struct sp_out *out, const char *code, const struct sp_verdict *v,
		      bool with_rows)
{
	bool found = false, any = false;

	for (int i = 0; i < SP_VERDICTS; i++) {
		found |= has_code(i, code);
		any |= v && has_code(i, code) && holds(v, i);
	}
	for (int i = 0; i < SP_VERDICTS && out->format == SP_FORMAT_TABLE; i++)
		if (has_code(i, code) && (!any || holds(v, i)))
			show_text(out, (enum sp_verdict_id)i, v, with_rows);
	return found;
}

static int explain_code(struct sp_out *out, const char *code, const struct sp_verdict *v,
			bool with_rows)
{
	if (!show_code(out, code, v, with_rows))
		return explain_error(out, code);
	return out->format == SP_FORMAT_TABLE ? 0 : show_table(out, code);
}

static const struct {
	const char *code, *title;
} codes[] = {
#define SP_CODE(code, title) {code, title},
#define SP_REASON(code, title) {"  " code, title},
#include "analyzer/verdict/code.def"
};

/* A code, and its text where all texts begin. */
static void show_line(struct sp_out *out, const char *code, const char *text)
{
	char begin[CODE_COLUMN + 1];

	snprintf(begin, sizeof(begin), "%-*s", (int)CODE_COLUMN, code);
	sp_out_wrapped(out, begin, text);
}

static int show_page(struct sp_out *out)
{
	char says[SAYS_BYTES];

	sp_out_line(out, "explain CODE says what a code means, what it rests on, and what to do;");
	sp_out_line(out, "explain CODE RUN says it with the figures of a run.");
	sp_out_line(out, "%s", "");
	sp_out_line(out, "Verdicts: what most of the training time is, or the first gain");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		show_line(out, codes[i].code, _(codes[i].title));
	sp_out_line(out, "%s", "");
	sp_out_line(out, "Errors");
	for (size_t i = 0; i < ERROR_COUNT; i++)
		show_line(out, errors[i].code,
			  *errors[i].says ? says_of(out, &errors[i], says) : _(errors[i].fix));
	return 0;
}

int sp_explain(struct sp_out *out, const char *code, const struct sp_report *report, bool with_rows)
{
	struct sp_verdict *v = NULL;
	int r = 0;

	if (!code && out->format == SP_FORMAT_TABLE)
		return show_page(out);
	if (!code) {
		r = show_table(out, NULL);
		return r == 0 ? show_errors(out, NULL) : r;
	}
	if (report) {
		v = malloc(sizeof(*v));
		r = v ? sp_verdict_make(v, report, &report->wait_thresholds) : -ENOMEM;
	}
	if (r == 0)
		r = explain_code(out, code, v, with_rows);
	free(v);
	return r;
}

static void lower(const char *word, char ret[SP_TYPING_ERRORS_MANY + 1])
{
	size_t i = 0;

	for (; i < SP_TYPING_ERRORS_MANY && word[i]; i++)
		ret[i] = (char)tolower((unsigned char)word[i]);
	ret[i] = '\0';
}

static unsigned errors_of(const char *word, const char *code)
{
	char a[SP_TYPING_ERRORS_MANY + 1], b[SP_TYPING_ERRORS_MANY + 1];

	lower(word, a);
	lower(code, b);
	if (strlen(a) >= MEANT_PART_BYTES_LEAST && strstr(b, a))
		return 0;
	return sp_typing_errors(a, b);
}

/* The verdicts have the first places, then the errors. */
static const char *code_at(size_t i)
{
	const struct sp_rule *rule = i < SP_VERDICTS ? sp_rule_of((enum sp_verdict_id)i) : NULL;

	if (!rule)
		return errors[i - SP_VERDICTS].code;
	return rule->reason ? rule->reason : rule->code;
}

bool sp_explain_meant(const char *code, char ret[SP_CODES_MEANT_BYTES])
{
	unsigned best = (unsigned)strlen(code) / 3;
	unsigned count = 0;
	size_t used = 0;

	*ret = '\0';
	best = best < MEANT_ERRORS_MAX ? best : MEANT_ERRORS_MAX;
	for (size_t i = 0; i < SP_VERDICTS + ERROR_COUNT; i++) {
		unsigned off = errors_of(code, code_at(i));

		best = off < best ? off : best;
	}
	for (size_t i = 0; i < SP_VERDICTS + ERROR_COUNT && count < MEANT_MAX; i++) {
		const char *other = code_at(i);

		/* several rules have one code */
		if (strstr(ret, other) || errors_of(code, other) > best ||
		    used + strlen(other) + 3 > SP_CODES_MEANT_BYTES)
			continue;
		count++;
		used += (size_t)snprintf(ret + used, SP_CODES_MEANT_BYTES - used, "%s%s",
					 used ? _(", ") : "", other);
	}
	return used > 0;
}
