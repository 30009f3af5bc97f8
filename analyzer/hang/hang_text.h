/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sentences about a hang, in the language of the report.
 */
#ifndef STAGEPROF_ANALYZER_HANG_TEXT_H
#define STAGEPROF_ANALYZER_HANG_TEXT_H

#include "analyzer/hang/hang.h"

/* The contract of JSON: "trainer", "rank 1", "worker 0". */
void sp_hang_role_name(const struct sp_hang_link *link, char ret[SP_HANG_NAME_BYTES]);

/* "ranks 0-1 wait in all_reduce #48 of group 0 (19,210 float32) for 5.00 s; rank 2 never came to
 * it", where groups of ranks were observed; then the chain: "the trainer (pid 5) waits for worker
 * 0; worker 0 (pid 7) is inside open of /d for 5.00 s" */
void sp_hang_text(const struct sp_report *report, const struct sp_hang *hang, char *ret,
		  size_t ret_bytes);

/* "worker 0 (pid 7) is inside open of /d for 5.00 s" */
void sp_hang_link_text(const struct sp_report *report, const struct sp_hang_link *link, char *ret,
		       size_t ret_bytes);

/* "the run was killed while worker 0 (pid 7) was inside open of /d;
 * it is not known for how long" */
void sp_hang_suspect_text(const struct sp_report *report, const struct sp_hang_link *link,
			  char *ret, size_t ret_bytes);

#endif
