/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/ranks/rank_text.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

const struct sp_process_image *sp_rank_image(const struct sp_report *report,
					     const struct sp_rank *rank)
{
	return sp_trainer_image(&report->training, rank->trainer);
}

void sp_rank_host_text(const struct sp_report *report, const struct sp_rank *rank,
		       char ret[SP_RANK_HOST_BYTES])
{
	const struct sp_host *host = &report->run.index.hosts[sp_rank_image(report, rank)->host];

	sp_text_escape(ret, SP_RANK_HOST_BYTES, host->name,
		       strnlen(host->name, sizeof(host->name)));
}

void sp_rank_text(const struct sp_report *report, const struct sp_rank *rank,
		  char ret[SP_RANK_TEXT_BYTES])
{
	const struct sp_process_image *image = sp_rank_image(report, rank);
	char host[SP_RANK_HOST_BYTES];

	sp_rank_host_text(report, rank, host);
	if (image->rank)
		snprintf(ret, SP_RANK_TEXT_BYTES, _("rank %llu (%s)"),
			 (unsigned long long)image->rank - 1, host);
	else
		snprintf(ret, SP_RANK_TEXT_BYTES, _("process %u (%s)"), image->pid, host);
}

uint64_t sp_ranks_world(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->ranks.count; i++)
		if (report->ranks.list[i].is_compared)
			return sp_rank_image(report, &report->ranks.list[i])->world_size;
	return 0;
}
