/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/wait_section.h"

#include <stdio.h>

#include "analyzer/text/translate.h"

#define STARTS_LEAST 0.0005 /* a smaller share is shown as 0.0% */

void sp_wait_section(const struct sp_metrics *e, struct sp_out *out)
{
	double first = sp_metrics_value(e, SP_METRIC_first_wait_share);
	double hidden = sp_metrics_value(e, SP_METRIC_hidden_wait_share);
	char text[256];
	size_t n;

	if (!e->of[SP_METRIC_input_wait_share].is_known ||
	    !e->of[SP_METRIC_lost_wait_share].is_known ||
	    (first < STARTS_LEAST && hidden < STARTS_LEAST))
		return;
	n = (size_t)snprintf(text, sizeof(text), _("%.1f%% = %.1f%% that costs time"),
			     100 * sp_metrics_value(e, SP_METRIC_input_wait_share),
			     100 * sp_metrics_value(e, SP_METRIC_lost_wait_share));
	if (first >= STARTS_LEAST)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      _(" + %.1f%% for first batches of epochs"), 100 * first);
	if (hidden >= STARTS_LEAST)
		snprintf(text + n, sizeof(text) - n, _(" + %.1f%% that the GPU's queue hides"),
			 100 * hidden);
	sp_out_wrapped(out, "input wait ", text);
}
