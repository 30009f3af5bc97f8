/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card: the answer of a report in a few lines. `stageprof run` prints it when the program has
 * ended, and the summary of a terminal begins with it.
 */
#ifndef STAGEPROF_ANALYZER_CARD_H
#define STAGEPROF_ANALYZER_CARD_H

#include "analyzer/views/view.h"

#define SP_CARD_LINES_MAX 12u
#define SP_CARD_LINES_LAUNCHED                                                                     \
	9u /* the launcher adds three: where the trace is, and what is next */

/* lines_max: at most SP_CARD_LINES_MAX. Returns the number of lines, or -ENOMEM. */
int sp_card_show(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options, unsigned lines_max);

#endif
