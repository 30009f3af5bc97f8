/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict_text.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

const char *sp_confidence_name(enum sp_confidence confidence)
{
	static const char *const names[] = {N_("low"), N_("medium"), N_("high")};

	return _(names[confidence]);
}

const char *sp_doubt_text(enum sp_doubt doubt)
{
	static const char *const texts[SP_DOUBTS] = {
#define SP_DOUBT(id, weight, when, text) text,
#include "analyzer/verdict/doubt.def"
	};

	return _(texts[doubt]);
}

void sp_confidence_text(const struct sp_verdict *v, char *ret, size_t bytes)
{
	size_t at =
		(size_t)snprintf(ret, bytes, _("confidence %s"), sp_confidence_name(v->confidence));
	const char *between = _(": ");

	for (int i = 0; i < SP_DOUBTS && at < bytes; i++) {
		if (!v->doubts[i])
			continue;
		at += (size_t)snprintf(ret + at, bytes - at, "%s%s", between,
				       sp_doubt_text((enum sp_doubt)i));
		between = _("; ");
	}
}

void sp_template_read(const char *text, void *context,
		      void (*take)(void *context, const char *words, size_t bytes,
				   enum sp_metric_id metric))
{
	while (*text) {
		size_t words = strcspn(text, "{");
		const char *end = strchr(text + words, '}');

		if (!end) {
			take(context, text, strlen(text), SP_METRICS);
			return;
		}
		take(context, text, words,
		     sp_metric_find(text + words + 1, (size_t)(end - text) - words - 1));
		text = end + 1;
	}
}

struct filling {
	const struct sp_metrics *metrics;
	char *ret;
	size_t room;
};

static void fill_part(void *context, const char *words, size_t bytes, enum sp_metric_id metric)
{
	struct filling *f = context;
	char value[SP_METRIC_TEXT_BYTES] = "";
	int n;

	if (metric < SP_METRICS)
		sp_metric_text(f->metrics, metric, value, sizeof(value));
	n = snprintf(f->ret, f->room, "%.*s%s", (int)bytes, words, value);
	n = n < (int)f->room ? n : (int)f->room - 1;
	f->ret += n;
	f->room -= (size_t)n;
}

/* A metric that is not known is left out. */
static void fill(const struct sp_metrics *metrics, const char *text, char *ret, size_t ret_bytes)
{
	struct filling f = {metrics, ret, ret_bytes};

	*ret = '\0';
	sp_template_read(text, &f, fill_part);
}

void sp_verdict_sentence(const struct sp_verdict *v, enum sp_verdict_id id, char *ret, size_t bytes)
{
	fill(&v->metrics, _(sp_rule_of(id)->sentence), ret, bytes);
}

static void put_top(const struct sp_top_function *top, char *ret, size_t bytes)
{
	char share[SP_NUMBER_BYTES], samples[SP_NUMBER_BYTES];

	snprintf(share, sizeof(share), "%.0f%%", 100 * top->share);
	sp_text_count(samples, top->samples);
	/* Translators: samples; a share; a function. */
	if (*top->caller)
		snprintf(ret, bytes,
			 sp_translate_plural(" By %s sample, %s of making batches is %s, called by "
					     "%s.",
					     " By %s samples, %s of making batches is %s, called "
					     "by %s.",
					     top->samples),
			 samples, share, top->name, top->caller);
	else
		snprintf(ret, bytes,
			 sp_translate_plural(" By %s sample, %s of making batches is %s.",
					     " By %s samples, %s of making batches is %s.",
					     top->samples),
			 samples, share, top->name);
}

static void put_top_line(const struct sp_top_function *top, char *ret, size_t bytes)
{
	char share[SP_NUMBER_BYTES], samples[SP_NUMBER_BYTES];

	snprintf(share, sizeof(share), "%.0f%%", 100 * top->share);
	snprintf(ret, bytes, _("Look at %s: by %s samples, %s of the loop's own code is there. "),
		 top->name, sp_text_count(samples, top->samples), share);
}

void sp_advice_text(const struct sp_verdict *v, enum sp_advice_id advice, char *ret,
		    size_t ret_bytes)
{
	bool is_of_loop = advice == SP_ADVICE_loop_names || advice == SP_ADVICE_loop_blocked;
	size_t used = 0;

	*ret = '\0';
	if (is_of_loop && v->top_line.samples)
		put_top_line(&v->top_line, ret, ret_bytes);
	else if (is_of_loop && !v->metrics.is_from_digest)
		snprintf(ret, ret_bytes, "%s",
			 _("Record once with `stageprof run --sample`, which names the line. "));
	used = strlen(ret);
	fill(&v->metrics, _(sp_advice_rule_of(advice)->text), ret + used, ret_bytes - used);
	used = strlen(ret);
	if (advice == SP_ADVICE_transform && v->top.samples)
		put_top(&v->top, ret + used, ret_bytes - used);
}
