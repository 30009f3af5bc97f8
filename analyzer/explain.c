#include "analyzer/explain.h"

#include <errno.h>
#include <string.h>

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

int sp_explain(struct sp_out *out, const char *code)
{
	bool found = !code;

	for (int i = 0; i < SP_VERDICTS && code; i++) {
		if (strcmp(sp_rule_of((enum sp_verdict_id)i)->code, code) != 0)
			continue;
		found = true;
		if (out->format == SP_FORMAT_TABLE)
			show_text(out, (enum sp_verdict_id)i);
	}
	if (!found)
		return -EINVAL;
	return code && out->format == SP_FORMAT_TABLE ? 0 : show_table(out, code);
}
