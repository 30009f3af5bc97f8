/*
 * The passes over the inputs, and what they find; views only read it.
 */
#ifndef STAGEPROF_ANALYZER_REPORT_H
#define STAGEPROF_ANALYZER_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/facts.h"
#include "analyzer/fold.h"
#include "analyzer/index.h"
#include "analyzer/ranges.h"
#include "analyzer/ranks.h"
#include "analyzer/training.h"
#include "analyzer/worker.h"

/* Which part of the run is asked for. */
struct sp_selection {
	uint32_t pid, tid;	 /* 0: all */
	int64_t from_ns, to_ns; /* since the run began; INT64_MIN, INT64_MAX: no bound */
};

/* Shares of the training time that waiting for the loader has to reach. */
struct sp_wait_thresholds {
	double moderate, severe; /* 0 <= moderate <= severe <= 1 */
};

#define SP_WAIT_MODERATE 0.05
#define SP_WAIT_SEVERE 0.20

struct sp_report {
	/* Asked for. */
	struct sp_selection selection;
	unsigned jobs;
	enum sp_file_naming naming;
	struct sp_step_selection step_selection;
	bool wants_files; /* sums by file */
	bool wants_steps; /* who trains, and in which steps */
	enum sp_range_choice wants_ranges;
	bool wants_ranks;   /* trainers beside each other; wants_steps, too */
	bool wants_workers; /* who makes the batches; wants_steps, too */
	struct sp_wait_thresholds wait_thresholds;
	bool asks_workers; /* what if there were so many? */
	uint32_t workers_asked;
	uint32_t names_max;

	/* Found. */
	struct sp_index index;
	struct sp_facts facts;
	struct sp_stream_sums *streams; /* parallel to index.streams */
	struct sp_sums stages[SP_STAGES];
	struct sp_fold_part part;
	struct sp_training training; /* empty where it is not wanted */
	struct sp_range_tree ranges; /* likewise */
	struct sp_workers workers;   /* likewise */
	struct sp_ranks ranks;	     /* likewise */

	/* Of the selected streams. */
	int64_t begin_ns, end_ns; /* CLOCK_REALTIME; the run's first file made, its last event's end */
	uint64_t thread_ns;	  /* how long the threads lived, added up */
	uint64_t events, holes, missing, unknown;
	uint64_t lines, pixels;
	uint64_t lost, lost_full, lost_nested, lost_no_file; /* lost: their sum and more, see index.h */
	uint32_t processes, threads;
	int64_t *main_ends_ns; /* sp_main_ends_find() */
	uint32_t not_ended; /* threads: killed, or still running */
	uint32_t ended_with_process;
	uint32_t truncated; /* threads whose file ends early */
	uint32_t unfinished;
	uint32_t write_mode; /* threads in the mode that loses its window to SIGKILL */
};

/* Bytes of the stages that read, and of those that write. */
struct sp_traffic {
	uint64_t read_bytes, written_bytes;
};

/* Pass 1: frames and definitions, of the inputs that sp_index_add() took. Returns 0 or -ENOMEM. */
int sp_report_scan(struct sp_report *report);

/* Training threads, for the bounds of their steps; then all events into sums. Returns 0 or -ENOMEM. */
int sp_report_fold(struct sp_report *report);

void sp_report_finish(struct sp_report *report);

bool sp_report_selects(const struct sp_report *report, uint32_t stream);

/* The stretch of the clock that the selection names, for streams of this host. */
struct sp_span sp_report_span(const struct sp_report *report, uint32_t host);

/* When a stream began and ended, CLOCK_REALTIME; within the selection. */
void sp_report_life(const struct sp_report *report, uint32_t stream, int64_t *ret_begin_ns,
		    int64_t *ret_end_ns);

/* As the thread named itself, else as the system knows it; not escaped, of fewer than 64 bytes. */
const char *sp_report_thread_name(const struct sp_report *report, uint32_t stream);

struct sp_traffic sp_stages_traffic(const struct sp_sums stages[SP_STAGES]);

/* True where anything of a trace was found in any input. */
bool sp_report_has_trace(const struct sp_report *report);

#endif
