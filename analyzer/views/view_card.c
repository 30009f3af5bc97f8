/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "analyzer/views/card.h"

/* Programs get the summary, which has all of it. */
int sp_view_card(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	int r;

	if (out->format != SP_FORMAT_TABLE)
		return sp_view_summary(report, out, options);
	r = options->sort ? -EINVAL : sp_card_show(report, out, options, SP_CARD_LINES_LAUNCHED);
	return r < 0 ? r : 0;
}
