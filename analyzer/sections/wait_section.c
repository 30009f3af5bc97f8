/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/wait_section.h"

#include <stdio.h>

#include "analyzer/text/translate.h"

#define STARTS_LEAST 0.0005 /* a smaller share is shown as 0.0% */

bool sp_wait_text(const struct sp_metrics *e, double least, char *ret, size_t bytes)
{
	double first = sp_metrics_value(e, SP_METRIC_first_wait_share);
	double hidden = sp_metrics_value(e, SP_METRIC_hidden_wait_share);
	size_t n;

	if (!e->of[SP_METRIC_input_wait_share].is_known ||
	    !e->of[SP_METRIC_lost_wait_share].is_known ||
	    (first < STARTS_LEAST && hidden < STARTS_LEAST) || first + hidden < least)
		return false;
	n = (size_t)snprintf(ret, bytes, _("%.1f%% = %.1f%% that costs time"),
			     100 * sp_metrics_value(e, SP_METRIC_input_wait_share),
			     100 * sp_metrics_value(e, SP_METRIC_lost_wait_share));
	if (first >= STARTS_LEAST && n < bytes)
		n += (size_t)snprintf(ret + n, bytes - n,
				      _(" + %.1f%% for first batches of epochs"), 100 * first);
	if (hidden >= STARTS_LEAST && n < bytes)
		snprintf(ret + n, bytes - n, _(" + %.1f%% that the device's queue hides"),
			 100 * hidden);
	return true;
}

void sp_wait_section(const struct sp_metrics *e, struct sp_out *out)
{
	char text[256];

	if (sp_wait_text(e, 0, text, sizeof(text)))
		sp_out_wrapped(out, "input wait ", text);
}
