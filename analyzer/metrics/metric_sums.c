/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metric_sums.h"

#include <assert.h>
#include <stdio.h>

double sp_metric_ask(struct sp_metric_sums *m, enum sp_metric_id metric)
{
	struct sp_metric *of = &m->e->of[metric];
	char text[SP_METRIC_TEXT_BYTES];

	assert(m->state[metric] != SP_METRIC_ASKED && "two metrics of metric.def need each other");
	if (m->state[metric] != SP_METRIC_UNASKED)
		return of->value;
	m->state[metric] = SP_METRIC_ASKED;
	if (sp_metric_about(metric)->unit == SP_IN_TEXT) {
		const char *told = m->text_of(m, metric, text);

		of->is_known = told != NULL;
		snprintf(of->text, sizeof(of->text), "%s", told ? told : "");
	} else {
		double value = m->number_of(m, metric);

		of->is_known = !isnan(value);
		of->value = of->is_known ? value : 0;
	}
	m->state[metric] = SP_METRIC_MADE;
	return of->value;
}
