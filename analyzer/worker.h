/*
 * Threads that make batches: what each did with its time, and what it did while the trainer waited
 * for a batch.
 */
#ifndef STAGEPROF_ANALYZER_WORKER_H
#define STAGEPROF_ANALYZER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/call_usage.h"
#include "analyzer/handover.h"
#include "analyzer/work.h"

struct sp_report;

struct sp_work_sums {
	uint64_t ns[SP_WORKS];
};

struct sp_worker {
	uint32_t stream;
	uint32_t trainer; /* index into training.trainers */
	bool is_trainer;  /* the trainer makes its own batches: a loader without workers */
	uint64_t batches;
	int64_t begin_ns, end_ns; /* CLOCK_REALTIME */
	struct sp_work_sums whole;
	struct sp_work_sums meanwhile; /* while the trainer waited for a batch */
	struct sp_call_usage usage;	       /* of fetches */
	uint64_t locked_ns;   /* in fetches, waiting for a lock, a queue or a descriptor; of `transform` */
	uint64_t received_ns; /* in fetches, reading from sockets and pipes; of `transform` */
};

struct sp_workers {
	struct sp_worker *list; /* in the order of streams */
	uint32_t count;
	struct sp_call_usage backward; /* of all trainers */
	struct sp_handover handover;   /* likewise */
};

/* Reads the trainers and their children, with report->jobs threads. Returns 0 or -ENOMEM. */
int sp_workers_read(struct sp_workers *workers, const struct sp_report *report);
void sp_workers_finish(struct sp_workers *workers);

#endif
