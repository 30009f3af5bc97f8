/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metric.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

static const struct sp_metric_about table[SP_METRICS] = {
#define SP_METRIC(name, unit, title, row, of, value) {#name, title, row, SP_IN_##unit},
#include "analyzer/metrics/metric.def"
#undef SP_METRIC
};

const struct sp_metric_about *sp_metric_about(enum sp_metric_id metric)
{
	return &table[metric];
}

enum sp_metric_id sp_metric_find(const char *name, size_t bytes)
{
	int i = 0;

	while (i < SP_METRICS &&
	       (strlen(table[i].name) != bytes || memcmp(table[i].name, name, bytes) != 0))
		i++;
	return (enum sp_metric_id)i;
}

void sp_metric_text(const struct sp_metrics *e, enum sp_metric_id metric, char *ret,
		    size_t ret_bytes)
{
	const struct sp_metric *m = &e->of[metric];
	char number[SP_NUMBER_BYTES];
	const char *text = _("not known");

	if (m->is_known) {
		text = number;
		switch (table[metric].unit) {
		case SP_IN_SHARE:
			snprintf(number, sizeof(number), "%.1f%%", 100 * m->value);
			break;
		case SP_IN_RATIO:
			snprintf(number, sizeof(number), "%.1f", m->value);
			break;
		case SP_IN_NS:
			sp_text_ns(number, (uint64_t)m->value);
			break;
		case SP_IN_COUNT:
			sp_text_count(number, (uint64_t)(m->value + 0.5));
			break;
		case SP_IN_BYTES:
			sp_text_bytes(number, (uint64_t)m->value);
			break;
		case SP_IN_TEXT:
			text = m->text;
			break;
		}
	}
	snprintf(ret, ret_bytes, "%s", text);
}
