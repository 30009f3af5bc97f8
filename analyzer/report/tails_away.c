/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/tails_away.h"

#include <string.h>

#include "analyzer/text/text.h"

void sp_tails_away_host(const struct sp_report *report, char *ret, size_t bytes)
{
	const struct sp_index *index = &report->run.index;
	const char *found = NULL;

	*ret = '\0';
	for (uint32_t i = 0; i < index->stream_count; i++) {
		const struct sp_stream *s = index->streams[i];
		const char *name;

		if (!sp_run_selects(&report->run, i) || !sp_stream_tail_is_away(s))
			continue;
		name = index->hosts[index->images[s->image].host].name;
		if (found && strcmp(found, name) != 0)
			return;
		found = name;
	}
	if (found)
		sp_text_escape(ret, bytes, found, strlen(found));
}
