#include "analyzer/explain.h"

#include <errno.h>
#include <string.h>

#include "analyzer/translate.h"
#include "analyzer/trouble.h"
#include "analyzer/verdict.h"

enum { CODE, COST, FROM, SEVERE, SIGN, LEAST, MEANING, REMEDY, CELLS };

static const struct sp_column columns[CELLS] = {
	[CODE] = {"code", N_("code"), SP_CELL_TEXT},
	[COST] = {"cost", N_("measured by"), SP_CELL_TEXT},
	[FROM] = {"from_share", N_("from"), SP_CELL_SHARE},
	[SEVERE] = {"severe_share", N_("severe"), SP_CELL_SHARE},
	[SIGN] = {"sign", N_("and"), SP_CELL_TEXT},
	[LEAST] = {"sign_least", N_("from"), SP_CELL_TEXT},
	[MEANING] = {"meaning", NULL, SP_CELL_TEXT},
	[REMEDY] = {"remedy", NULL, SP_CELL_TEXT},
};

static const char *measure_of(const struct sp_rule *rule, enum sp_measure_id measure)
{
	return rule->is_state || measure == SP_MEASURE_steps ? NULL : sp_measure_name(measure);
}

static int show_row(struct sp_out *out, const struct sp_rule *rule)
{
	char least[32] = "";
	const char *sign = measure_of(rule, rule->sign);
	struct sp_cell cells[CELLS] = {
		[CODE] = sp_cell_text(rule->code),
		[COST] = sp_cell_text(measure_of(rule, rule->cost)),
		[FROM] = rule->is_state ? sp_cell_null() : sp_cell_share(rule->moderate),
		[SEVERE] = rule->is_state ? sp_cell_null() : sp_cell_share(rule->severe),
		[SIGN] = sp_cell_text(sign),
		[LEAST] = sp_cell_null(),
		[MEANING] = sp_cell_text(rule->meaning),
		[REMEDY] = sp_cell_text(rule->remedy),
	};

	if (sign) {
		snprintf(least, sizeof(least), "%g", rule->least_sign);
		cells[LEAST] = sp_cell_text(least);
	}
	return sp_out_row(out, cells);
}

static int show_table(struct sp_out *out, const char *code)
{
	int r = sp_out_table(out, "verdicts", NULL, columns, CELLS, true);

	for (int i = 0; r == 0 && i < SP_VERDICTS; i++) {
		const struct sp_rule *rule = sp_rule_of((enum sp_verdict_id)i);

		if (!code || strcmp(code, rule->code) == 0)
			r = show_row(out, rule);
	}
	if (r == 0)
		sp_out_table_end(out);
	return r;
}

static void show_measure(struct sp_out *out, enum sp_measure_id measure)
{
	sp_out_line(out, "    %s: %s", sp_measure_name(measure), sp_measure_title(measure));
	sp_out_line(out, "        read from %s", sp_measure_row(measure));
}

static void show_evidence(struct sp_out *out, const struct sp_rule *rule)
{
	sp_out_line(out, "evidence");
	show_measure(out, rule->cost);
	if (rule->sign != SP_MEASURE_steps)
		show_measure(out, rule->sign);
	sp_out_line(out, "thresholds");
	if (rule->refines == SP_VERDICT_compute)
		sp_out_line(out, "    told where no other rule holds");
	else
		sp_out_line(out,
			    "    told from %g %% of the training time on, severe from %g %%",
			    100 * rule->moderate, 100 * rule->severe);
	if (rule->sign != SP_MEASURE_steps)
		sp_out_line(out, "    %s at least %g", sp_measure_name(rule->sign),
			    rule->least_sign);
	if (rule->cost == SP_MEASURE_lost_wait_share)
		sp_out_line(out, "    another pair of percents: --wait-thresholds");
}

static void show_advice(struct sp_out *out, enum sp_verdict_id id)
{
	bool any = false;

	for (int i = 0; i < SP_ADVICES; i++) {
		const struct sp_advice_rule *advice = sp_advice_rule_of((enum sp_advice_id)i);

		if (advice->verdict != id)
			continue;
		if (!any)
			sp_out_line(out, "advice, where the evidence is there");
		any = true;
		sp_out_wrapped(out, "    ", _(advice->text));
	}
}

static void show_text(struct sp_out *out, enum sp_verdict_id id)
{
	const struct sp_rule *rule = sp_rule_of(id);

	sp_out_line(out, "%s", rule->code);
	sp_out_line(out, "%s", "");
	sp_out_wrapped(out, "says  ", _(rule->sentence));
	sp_out_wrapped(out, "means ", _(rule->meaning));
	sp_out_wrapped(out, "do    ", _(rule->remedy));
	if (!rule->is_state)
		show_evidence(out, rule);
	show_advice(out, id);
	sp_out_line(out, "%s", "");
}

static const struct sp_column trouble_columns[] = {
	{"code", N_("code"), SP_CELL_TEXT},
	{"program", N_("program"), SP_CELL_TEXT},
	{"says", N_("says"), SP_CELL_TEXT},
	{"remedy", NULL, SP_CELL_TEXT},
};

static const char *says_of(const struct sp_trouble_text *trouble)
{
	return *trouble->says ? trouble->says : N_("what the system says");
}

static int show_troubles(struct sp_out *out, const char *code)
{
	const struct sp_trouble_text *trouble;
	int r = sp_out_table(out, "errors", NULL, trouble_columns, 4, code != NULL);

	for (size_t i = 0; r == 0 && (trouble = sp_trouble_at(i)); i++) {
		struct sp_cell cells[] = {
			sp_cell_text(trouble->code),
			sp_cell_text(trouble->program),
			sp_cell_text(_(says_of(trouble))),
			sp_cell_text(_(trouble->fix)),
		};

		if (!code || strcmp(code, trouble->code) == 0)
			r = sp_out_row(out, cells);
	}
	if (r == 0)
		sp_out_table_end(out);
	return r;
}

/* Returns -EINVAL where no error has this code. */
static int explain_trouble(struct sp_out *out, const char *code)
{
	const struct sp_trouble_text *trouble;
	size_t i = 0;

	while ((trouble = sp_trouble_at(i)) && strcmp(trouble->code, code) != 0)
		i++;
	if (!trouble)
		return -EINVAL;
	if (out->format != SP_FORMAT_TABLE)
		return show_troubles(out, code);
	sp_out_line(out, "%s", code);
	sp_out_line(out, "%s", "");
	sp_out_wrapped(out, "from  ", trouble->program);
	sp_out_wrapped(out, "says  ", _(says_of(trouble)));
	sp_out_wrapped(out, "do    ", _(trouble->fix));
	return 0;
}

int sp_explain(struct sp_out *out, const char *code)
{
	bool found = !code;
	int r;

	for (int i = 0; i < SP_VERDICTS && code; i++) {
		if (strcmp(sp_rule_of((enum sp_verdict_id)i)->code, code) != 0)
			continue;
		found = true;
		if (out->format == SP_FORMAT_TABLE)
			show_text(out, (enum sp_verdict_id)i);
	}
	if (!found)
		return explain_trouble(out, code);
	if (code && out->format == SP_FORMAT_TABLE)
		return 0;
	r = show_table(out, code);
	return r == 0 && !code ? show_troubles(out, NULL) : r;
}
