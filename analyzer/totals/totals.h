/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of all selected streams.
 */
#ifndef STAGEPROF_ANALYZER_TOTALS_H
#define STAGEPROF_ANALYZER_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/run.h"
#include "analyzer/totals/aggregate.h"

/* The sums of one thread as bytes of a digest. */
struct sp_stream_bytes {
	uint8_t *bytes;
	uint32_t size;
};

#define SP_TOP_FILES 32u

/* The files in which a thread spent most time: numbers in metadata.files. */
struct sp_top_files {
	uint32_t *list; /* owned */
	uint32_t count;
};

struct sp_totals {
	bool encodes_streams;		 /* set by the caller: `encoded` is wanted */
	struct sp_stream_bytes *encoded; /* parallel to run.index.streams, or NULL */
	struct sp_top_files *tops;	 /* parallel to `encoded` */
	struct sp_stream_sums *streams;	 /* parallel to run.index.streams */
	struct sp_sums stages[SP_STAGES];
	struct sp_partial_sums partial; /* of all threads that read */

	/* Sums of the selected streams. */
	int64_t end_ns;	    /* CLOCK_REALTIME: the last event's end, at least run.begin_ns */
	uint64_t thread_ns; /* lives of the threads, added up */
	uint64_t events, holes, missing, unknown;
	uint64_t lines, pixels;
	uint64_t phases; /* sp_stream_sums */
	uint64_t lost, lost_full, lost_nested,
		lost_no_file; /* lost: their sum and more, see reader/index.h */
	uint32_t processes, threads;
	int64_t *main_ends_ns; /* sp_main_ends_find() */
	uint32_t not_ended;    /* threads: killed, or still running */
	uint32_t ended_with_process;
	uint32_t truncated; /* threads whose file ends early */
	uint32_t unfinished;
	uint32_t tails_away; /* threads of them whose tails were not found */
};

/* Bytes of the stages that read, and of those that write. */
struct sp_traffic {
	uint64_t read_bytes, written_bytes;  /* of files */
	uint64_t received_bytes, sent_bytes; /* over the network */
};

void sp_totals_finish(struct sp_totals *totals, const struct sp_run *run);

/* The last that is known of a stream, CLOCK_REALTIME; with a selection it may end later. */
int64_t sp_stream_end_ns(const struct sp_run *run, const struct sp_totals *totals, uint32_t stream);

/* The begin and the end of a stream, CLOCK_REALTIME; within the selection. */
void sp_stream_life(const struct sp_run *run, const struct sp_totals *totals, uint32_t stream,
		    int64_t *ret_begin_ns, int64_t *ret_end_ns);

struct sp_traffic sp_stages_traffic(const struct sp_sums stages[SP_STAGES]);

/* True where these stages (SP_STAGES of them) have calls of CUDA. */
bool sp_stages_have_cuda(const struct sp_sums *stages);

#endif
