/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hang: at the end of the run, now, or until somebody gave the run up, training has not moved for
 * long. The chain leads from the
 * trainer to what it waits for: another rank, a worker, and the call that this one is inside of.
 */
#ifndef STAGEPROF_ANALYZER_HANG_H
#define STAGEPROF_ANALYZER_HANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/hang/group_match.h"
#include "analyzer/hang/hang_tail.h"
#include "analyzer/reader/index.h"
#include "trace/live_lock.h"

struct sp_report;

#define SP_HANG_LINKS_MAX 4u
#define SP_HANG_NAME_BYTES 32u

enum sp_hang_role { SP_HANG_TRAINER, SP_HANG_RANK, SP_HANG_WORKER };

struct sp_hang_link {
	uint32_t stream;
	enum sp_hang_role role;
	uint64_t number;	       /* of the rank, or the worker */
	uint32_t kind;		       /* of the event that the thread is inside of; 0: of none */
	char file[SP_HANG_FILE_BYTES]; /* not escaped; "": none, or not known */
	uint64_t for_ns;	       /* in the call, or without a call */
	bool is_stopped;	       /* now, by a signal */
	bool is_silent;		       /* in no call: it computes, or cannot run */
	bool is_gone;		       /* its process had ended */
	struct sp_live_lock lock;      /* that it waits for now, or waited for at the run's end */
	enum sp_path_missing missing;  /* of a call on a file whose name is not known */
};

struct sp_hang {
	bool is_hung;
	bool is_given_up; /* a call of the trainer ended in a signal or an exception after for_ns;
			     without is_hung nothing says what held it up */
	bool is_signal;	  /* is_given_up, by a signal */
	uint64_t for_ns;  /* how long training has not moved */
	int64_t since_ns; /* CLOCK_REALTIME */
	struct sp_hang_link chain[SP_HANG_LINKS_MAX];
	uint32_t count;
};

void sp_hang_find(const struct sp_report *report, struct sp_hang *ret);

/*
 * Matches the ranks of a run that has hung. Returns 0 or -ENOMEM; call sp_group_match_finish()
 * in both cases.
 */
int sp_hang_ranks(const struct sp_report *report, const struct sp_hang *hang,
		  struct sp_group_match *ret);

/* A trainer of a run that has hung, and the worker that it waited for; returns the number of links.
 * match: of sp_hang_ranks(). */
uint32_t sp_hang_links(const struct sp_report *report, const struct sp_hang *hang,
		       const struct sp_group_match *match, uint32_t trainer,
		       struct sp_hang_link ret[2]);

/* Writes a thread's tail into a digest. The thread: a trainer, or a worker's main thread. */
void sp_hang_tail_write(struct sp_digest_fields *f, const struct sp_report *report,
			uint32_t stream);

/* The end of the thread's process, also of one that a digest has. */
struct sp_process_end sp_hang_end_of(const struct sp_report *report, uint32_t stream);

/*
 * A run that was killed so soon after the last step that nobody knows if it hung: a trainer or its
 * worker waited for a lock, or was inside a call in which it had spent next to no time. Returns
 * false where no such thread is known.
 */
bool sp_hang_suspect(const struct sp_report *report, struct sp_hang_link *ret);

#endif
