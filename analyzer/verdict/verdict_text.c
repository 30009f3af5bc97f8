/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict_text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/text/translate.h"
#include "analyzer/verdict/advice_line.h"

#define MOST 0.5 /* of the training time */

const char *sp_confidence_name(enum sp_confidence confidence)
{
	static const char *const names[] = {N_("low"), N_("medium"), N_("high")};

	return _(names[confidence]);
}

static const struct {
	const char *id, *text;
} doubts[SP_DOUBTS] = {
#define SP_DOUBT(id, weight, when, text) {#id, text},
#include "analyzer/verdict/doubt.def"
};

const char *sp_doubt_id(enum sp_doubt doubt)
{
	return doubts[doubt].id;
}

static const struct {
	const char *id, *by, *counts;
} seconds[SP_SECONDS] = {
#define SP_SECOND(id, claimed, found, most, by, counts) {#id, by, counts},
#include "analyzer/verdict/second.def"
};

const char *sp_second_id(enum sp_second second)
{
	return seconds[second].id;
}

void sp_doubt_text(const struct sp_verdict *v, enum sp_doubt doubt, char *ret, size_t bytes)
{
	const struct sp_opinion *o = &v->second;

	if (doubt == SP_DOUBT_second && o->differs)
		/* Translators: the doubt, then two counts of the same and their shares. */
		snprintf(ret, bytes, _("%s: %s %.1f%%, %s %.1f%%"), _(doubts[doubt].text),
			 _(seconds[o->id].by), 100 * o->claimed, _(seconds[o->id].counts),
			 100 * o->found);
	else
		snprintf(ret, bytes, "%s", _(doubts[doubt].text));
}

static const struct {
	const char *name, *title;
} parts[SP_PARTS] = {
#define SP_PART(name, share, title) {#name, title},
#include "analyzer/verdict/part.def"
};

const char *sp_part_name(enum sp_part part)
{
	return parts[part].name;
}

const char *sp_severity_name(const struct sp_verdict *v)
{
	if (sp_rule_of(v->id)->is_state || v->id == SP_VERDICT_compute)
		return NULL;
	return v->is_severe ? N_("high") : N_("medium");
}

void sp_confidence_text(const struct sp_verdict *v, unsigned reasons, char *ret, size_t bytes)
{
	const char *severity = sp_severity_name(v), *between = _(": ");
	size_t at = 0;

	if (severity)
		at += (size_t)snprintf(ret, bytes, _("severity %s; "), _(severity));
	at += (size_t)snprintf(ret + at, bytes - at, _("confidence %s"),
			       sp_confidence_name(v->confidence));

	for (int i = 0; i < SP_DOUBTS && at < bytes; i++) {
		char text[SP_DOUBT_TEXT_BYTES];

		if (!v->doubts[i] || reasons == 0)
			continue;
		reasons--;
		sp_doubt_text(v, (enum sp_doubt)i, text, sizeof(text));
		at += (size_t)snprintf(ret + at, bytes - at, "%s%s", between, text);
		between = _("; ");
	}
}

bool sp_template_next(const char **text, struct sp_template_part *ret)
{
	const char *words = *text, *name = words + strcspn(words, "{"), *end = strchr(name, '}');

	*ret = (struct sp_template_part){words, strlen(words), SP_METRICS};
	if (end) {
		ret->bytes = (size_t)(name - words);
		ret->metric = sp_metric_find(name + 1, (size_t)(end - name) - 1);
	}
	*text = end ? end + 1 : words + ret->bytes;
	return *words;
}

void sp_template_fill(const struct sp_metrics *metrics, const char *text, char *ret,
		      size_t ret_bytes)
{
	struct sp_template_part part;
	size_t used = 0;

	*ret = '\0';
	while (sp_template_next(&text, &part) && used < ret_bytes) {
		char value[SP_METRIC_TEXT_BYTES] = "";

		if (part.metric < SP_METRICS)
			sp_metric_text(metrics, part.metric, value, sizeof(value));
		used += (size_t)snprintf(ret + used, ret_bytes - used, "%.*s%s", (int)part.bytes,
					 part.words, value);
	}
}

/* "X-bound" says that X is most of the time. */
static bool is_most(const struct sp_verdict *v, enum sp_verdict_id id)
{
	const struct sp_rule *r = sp_rule_of(id);
	double cost = sp_metrics_value(&v->metrics, r->cost);

	return cost >= MOST || cost >= v->greatest_share;
}

void sp_verdict_sentence(const struct sp_verdict *v, enum sp_verdict_id id, char *ret, size_t bytes)
{
	const struct sp_rule *r = sp_rule_of(id);
	const char *gain = id == SP_VERDICT_compute ? _("No cost reaches its threshold")
			   : id == v->id	    ? _("The first gain")
						    : _("Another gain");
	char sentence[SP_VERDICT_TEXT_BYTES];
	const char *rest;

	sp_template_fill(&v->metrics, _(r->sentence), sentence, sizeof(sentence));
	rest = strstr(sentence, _(": "));
	if (r->is_state || r->reason || !rest || is_most(v, id))
		snprintf(ret, bytes, "%s", sentence);
	else
		/* Translators: a part of the training time, its share, "The first gain", which. */
		snprintf(ret, bytes, _("%s %.0f%%. %s: %s"), _(parts[v->greatest].title),
			 100 * v->greatest_share, gain, rest + strlen(_(": ")));
}

void sp_verdict_brief(const struct sp_verdict *v, char *ret, size_t bytes)
{
	const struct sp_rule *r = sp_rule_of(v->id);
	const char *bound = strstr(r->code, "-bound");

	if (r->reason)
		snprintf(ret, bytes, "%s: %s", r->code, r->reason);
	else if (r->is_state || is_most(v, v->id))
		snprintf(ret, bytes, "%s", r->code);
	else /* Translators: a part of the training time, its share, a verdict. */
		snprintf(ret, bytes, _("%s %.0f%%; gain: %.*s"), _(parts[v->greatest].title),
			 100 * v->greatest_share,
			 (int)(bound ? bound - r->code : (ptrdiff_t)strlen(r->code)), r->code);
}

void sp_advice_plain_text(const struct sp_verdict *v, enum sp_advice_id advice, char *ret,
			  size_t ret_bytes)
{
	sp_template_fill(&v->metrics, _(sp_advice_template(v, advice)), ret, ret_bytes);
}

void sp_advice_text(const struct sp_verdict *v, enum sp_advice_id advice, char *ret,
		    size_t ret_bytes)
{
	char text[SP_LINE_TEXT_BYTES];
	size_t used;

	sp_advice_plain_text(v, advice, ret, ret_bytes);
	used = strlen(ret);
	if (v->names_line[advice]) {
		sp_sampled_line_text(sp_advice_line(v, advice), true, text);
		snprintf(ret + used, ret_bytes - used, _(" %s."), text);
	} else if (sp_advice_part(advice) == SP_SAMPLED_loop && !v->is_sampled &&
		   !v->metrics.is_from_digest) {
		snprintf(ret + used, ret_bytes - used, "%s",
			 _(" `stageprof run --sample` names the line."));
	}
}
