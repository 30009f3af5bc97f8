/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state in which a thread was last seen, and the last collectives of its process: what the view
 * `hang` needs of a thread whose events a digest has not.
 */
#ifndef STAGEPROF_ANALYZER_HANG_TAIL_H
#define STAGEPROF_ANALYZER_HANG_TAIL_H

#include "analyzer/hang/group_calls.h"
#include "analyzer/reader/digest_fields.h"
#include "analyzer/reader/index.h"
#include "analyzer/totals/process_end.h"
#include "trace/live_lock.h"

#define SP_HANG_FILE_BYTES 512u

struct sp_hang_tail {
	struct sp_process_end end;
	int64_t run_end_ns;	       /* CLOCK_REALTIME */
	int64_t since_ns, least_ns;    /* of a trainer: its last step's end; longer is a hang */
	char file[SP_HANG_FILE_BYTES]; /* of the call in progress; "": none, or not known */
	enum sp_path_missing missing;
	struct sp_live_lock lock;
};

/* Both ways: see digest_fields.h. */
void sp_hang_tail_fields(struct sp_digest_fields *f, struct sp_hang_tail *tail);
void sp_hang_groups_fields(struct sp_digest_fields *f, struct sp_process_groups *groups);

/* Returns false where the thread is of no digest, or the digest has no tail of it. */
bool sp_hang_tail_read(const struct sp_stream *stream, struct sp_hang_tail *ret);

/* The groups of a process by its trainer's tail; a process without one has none. Returns 0 or
 * -ENOMEM; call sp_process_groups_finish() in both cases. Names lie in the tail. */
int sp_hang_groups_read(const struct sp_stream *stream, struct sp_process_groups *ret);

#endif
