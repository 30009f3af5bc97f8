/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences about the ranks of a run that has hung, in the language of the report. */
#ifndef STAGEPROF_ANALYZER_RANK_HANG_TEXT_H
#define STAGEPROF_ANALYZER_RANK_HANG_TEXT_H

#include "analyzer/hang/rank_hang.h"

/* "all_reduce #48 of group 0 (19,210 float32)" */
void sp_rank_call_text(const struct sp_rank_hang *hang, const struct sp_matched_rank *rank,
		       char ret[SP_RANK_CALL_BYTES]);

/* "rank 2", "ranks 0-1, 3" */
void sp_rank_row_who(const struct sp_rank_hang *hang, uint32_t row, char *ret, size_t bytes);

/* A clause for each row that says who waits in what, and who is not there. Returns the bytes
 * written, below ret_bytes. */
size_t sp_rank_hang_text(const struct sp_rank_hang *hang, char *ret, size_t ret_bytes);

#endif
