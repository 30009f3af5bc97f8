/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of the hosts of a job, as the ends of its collectives show them.
 */
#ifndef STAGEPROF_ANALYZER_RANK_CLOCKS_H
#define STAGEPROF_ANALYZER_RANK_CLOCKS_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* The compared rank that comes first of each host. */
struct sp_rank_hosts {
	const struct sp_rank **first; /* the caller frees it */
	uint32_t count;
};

/* Returns 0 or -ENOMEM; `first` is to be freed in both cases. */
int sp_rank_hosts_list(const struct sp_report *report, struct sp_rank_hosts *ret);

/*
 * Writes the clocks that are furthest off; of the others, how far they are off at most. It orders
 * `hosts` by that. reason: why the collectives do not compare them; not read where they do.
 */
void sp_rank_clocks_show(const struct sp_report *report, struct sp_out *out,
			 struct sp_rank_hosts *hosts, const char *reason);

/* Writes the array "clocks": each host, and how far its clock is ahead of the first host's. */
void sp_rank_clocks_json(const struct sp_report *report, struct sp_json *j,
			 const struct sp_rank_hosts *hosts);

#endif
