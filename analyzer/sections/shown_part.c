/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/shown_part.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

struct parts {
	char *text;
	size_t room, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct parts *p, const char *format, ...)
{
	va_list values;

	if (p->used && p->used < p->room)
		p->used += (size_t)snprintf(p->text + p->used, p->room - p->used, "%s", _(", "));
	if (p->used >= p->room)
		return;
	va_start(values, format);
	p->used += (size_t)vsnprintf(p->text + p->used, p->room - p->used, format, values);
	va_end(values);
}

static void add_steps(struct parts *p, const struct sp_step_selection *s)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	if (s->to != UINT32_MAX)
		add(p, _("steps %s to %s"), sp_text_count(a, s->from),
		    sp_text_count(b, s->to - 1u));
	else if (s->from)
		add(p, _("steps from %s on"), sp_text_count(a, s->from));
	if (s->epoch >= 0)
		add(p, _("epoch %s"), sp_text_count(a, (uint64_t)s->epoch));
	if (s->warmup > 0)
		add(p,
		    sp_translate_plural("without the first step", "without the first %s steps",
					(unsigned long)s->warmup),
		    sp_text_count(a, (uint64_t)s->warmup));
}

/* Times before the run's begin are none of it. */
static const char *text_of(char ret[SP_NUMBER_BYTES], int64_t ns)
{
	return sp_text_ns(ret, ns > 0 ? (uint64_t)ns : 0);
}

static void add_time(struct parts *p, const struct sp_selection *s)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	if (s->from_ns != INT64_MIN && s->to_ns != INT64_MAX)
		add(p, _("from %s to %s"), text_of(a, s->from_ns), text_of(b, s->to_ns));
	else if (s->from_ns != INT64_MIN)
		add(p, _("from %s on"), text_of(a, s->from_ns));
	else if (s->to_ns != INT64_MAX)
		add(p, _("up to %s"), text_of(a, s->to_ns));
}

bool sp_selection_text(const struct sp_report *report, char *ret, size_t ret_bytes)
{
	const struct sp_selection *s = &report->run.selection;
	struct parts p = {.text = ret, .room = ret_bytes};

	*ret = '\0';
	add_steps(&p, &report->training.selection);
	add_time(&p, s);
	if (s->pid)
		add(&p, _("process %u"), s->pid);
	if (s->tid)
		add(&p, _("thread %u"), s->tid);
	return p.used != 0;
}

bool sp_off_text(const struct sp_report *report, char *ret, size_t ret_bytes)
{
	const struct sp_sums *sums = &report->totals.stages[SP_STAGE_off];
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];
	uint64_t steps = 0;

	*ret = '\0';
	if (!sums->calls)
		return false;
	for (uint32_t t = 0; t < report->training.count; t++)
		steps += report->training.trainers[t].steps.unrecorded;
	snprintf(ret, ret_bytes,
		 sp_translate_plural("recording was off, for %s at the longest: %s step of "
				     "training "
				     "is in no row",
				     "recording was off, for %s at the longest: %s steps of "
				     "training are in no row",
				     steps),
		 sp_text_ns(a, sums->max_ns), sp_text_count(b, steps));
	return true;
}
