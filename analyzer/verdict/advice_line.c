/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/advice_line.h"

#include <stdio.h>

#include "analyzer/text/translate.h"

struct named_line {
	enum sp_sampled_part part; /* SP_SAMPLED_PARTS: the advice names no line */
	const char *text;	   /* NULL: the advice has one text */
};

static struct named_line named_line_of(enum sp_advice_id advice)
{
	switch (advice) {
#define SP_LINE(id, part, text)                                                                    \
	case SP_ADVICE_##id:                                                                       \
		return (struct named_line){SP_SAMPLED_##part, text};
#include "analyzer/verdict/line.def"
	default:
		return (struct named_line){SP_SAMPLED_PARTS, NULL};
	}
}

enum sp_sampled_part sp_advice_part(enum sp_advice_id advice)
{
	return named_line_of(advice).part;
}

const struct sp_sampled_line *sp_advice_line(const struct sp_verdict *v, enum sp_advice_id advice)
{
	enum sp_sampled_part part = sp_advice_part(advice);

	return part < SP_SAMPLED_PARTS && v->lines[part].samples ? &v->lines[part] : NULL;
}

const char *sp_advice_template(const struct sp_verdict *v, enum sp_advice_id advice)
{
	const char *text = sp_advice_line(v, advice) ? named_line_of(advice).text : NULL;

	return text ? text : sp_advice_rule_of(advice)->text;
}

/* Each line is named once, by the advice that saves most. */
static bool names_line(const struct sp_verdict *v, const enum sp_advice_id *order, uint32_t i)
{
	const struct sp_sampled_line *line = sp_advice_line(v, order[i]), *other;
	bool is_new = line != NULL;

	for (uint32_t k = 0; is_new && k < i; k++) {
		other = sp_advice_line(v, order[k]);
		is_new = !other || other->frame != line->frame;
	}
	return is_new;
}

int sp_advice_find_lines(struct sp_verdict *v, const struct sp_samples *samples,
			 const enum sp_advice_id *order)
{
	bool is_found[SP_SAMPLED_PARTS + 1] = {[SP_SAMPLED_PARTS] = true};
	int r = 0;

	v->is_sampled = samples->is_known;
	for (uint32_t i = 0; r == 0 && i < v->advice_count; i++) {
		enum sp_sampled_part part = sp_advice_part(order[i]);

		if (!is_found[part])
			r = sp_sampled_line_find(&v->lines[part], samples, part);
		is_found[part] = true;
		v->names_line[order[i]] = names_line(v, order, i);
	}
	return r;
}

void sp_sampled_line_text(const struct sp_sampled_line *line, bool with_callee,
			  char ret[SP_LINE_TEXT_BYTES])
{
	char share[32], callee[16];
	int used;

	snprintf(share, sizeof(share), "%.0f%%", 100 * line->share);
	snprintf(callee, sizeof(callee), "%.0f%%", 100 * line->callee_share);
	/* Translators: a share, or "most"; "the input wait"; a function with its line. */
	used = snprintf(ret, SP_LINE_TEXT_BYTES, _("%s of %s is %s"),
			/* Translators: in place of a share: "most of the input wait is" */
			line->is_rough ? _("most") : share, _(line->of), line->place);
	if (with_callee && line->callee_share > 0)
		/* Translators: follows a function: a share; what the function calls. */
		used += snprintf(ret + used, SP_LINE_TEXT_BYTES - (size_t)used,
				 _(", %s of that in %s"), callee, line->callee);
	if (*line->caller)
		/* Translators: follows a function: the line that calls it. */
		snprintf(ret + used, SP_LINE_TEXT_BYTES - (size_t)used, _(", called by %s"),
			 line->caller);
}
