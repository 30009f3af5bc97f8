/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the view `ranks` names a rank: its process, its host, its job.
 */
#ifndef STAGEPROF_ANALYZER_RANK_TEXT_H
#define STAGEPROF_ANALYZER_RANK_TEXT_H

#include "analyzer/report/report.h"

#define SP_RANK_HOST_BYTES 80u
#define SP_RANK_TEXT_BYTES 128u

/* The process image of the rank; of the report. */
const struct sp_process_image *sp_rank_image(const struct sp_report *report,
					     const struct sp_rank *rank);

/* The host's name, escaped. */
void sp_rank_host_text(const struct sp_report *report, const struct sp_rank *rank,
		       char ret[SP_RANK_HOST_BYTES]);

/* "rank 3 (node-1)"; a process whose launcher gave no number: "process 4711 (node-1)". */
void sp_rank_text(const struct sp_report *report, const struct sp_rank *rank,
		  char ret[SP_RANK_TEXT_BYTES]);

/* Ranks of the job that is compared, as its launcher numbered them; 0: not known. */
uint64_t sp_ranks_world(const struct sp_report *report);

#endif
