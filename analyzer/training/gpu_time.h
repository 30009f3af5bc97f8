/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time on the device: the gpu_span events of a trainer's process. Each is a stretch of one
 * stream, from the first work of a stage to its end, and is assigned to the trainer's steps.
 * Instants are CLOCK_REALTIME ns of the host, as the recorder placed them. A span includes the
 * gaps between its first and its last work. Work on streams that the training thread does not
 * launch on is in no span.
 */
#ifndef STAGEPROF_ANALYZER_GPU_TIME_H
#define STAGEPROF_ANALYZER_GPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/steps/account.h"
#include "trace/format.h"

struct sp_spill;
struct sp_steps;

struct sp_gpu_span {
	int64_t start_ns, end_ns;
	int64_t host_ns;     /* when its first work was launched */
	int64_t host_end_ns; /* when its stage ended for the host */
	uint32_t stream;     /* as in the event's arg, >> 8 */
	uint8_t device, pool;
	uint8_t phase; /* enum sp_account_phase, after sp_gpu_time_finalize();
			  before, enum sp_phase */
	bool is_whole; /* its EXTRA words are there */
	bool is_graph; /* the launch of one, in no stage of its own */
};

/* Some stretch of training. */
struct sp_gpu_sums {
	struct sp_account launched; /* busy with what was launched in it, by part of the step; of
				       all streams */
	uint64_t graph_ns; /* of launched.ns[SP_ACCOUNT_other]: in graphs that stand for steps,
			      whole or in pieces */
	uint64_t busy_ns;  /* of its wall time, in which any stream was */
	uint64_t wall_ns;
	uint64_t lost_wait_ns,
		hidden_wait_ns; /* of its waits for the loader, while nothing and something ran */
	uint64_t spans, queued_ns; /* from launch until begin, added up */
	uint64_t paced_ns; /* of what was launched in it, spans that ended with their stage on the
			      host: the device kept up */
};

struct sp_gpu_time {
	struct sp_spill *spill;	   /* borrowed: it keeps both lists; NULL: memory */
	struct sp_gpu_span *spans; /* after sp_gpu_time_finalize(), by start */
	uint32_t count, room;
	uint64_t dropped;	   /* pairs that could not be made or read */
	struct sp_gpu_sums *steps; /* one a step; NULL where there are no spans */
	bool is_out_of_memory;
};

/* Takes a gpu_span. `extra`: its words, or NULL. ns_per_tick as in struct sp_clock. */
void sp_gpu_time_take(struct sp_gpu_time *gpu, const struct sp_slot *slot,
		      const struct sp_slot *extra, int64_t start_ns, int64_t end_ns,
		      uint64_t ns_per_tick);

/* After sp_steps_classify(): orders and classifies the spans, and sums them for each step. Returns
 * 0 or -ENOMEM. */
int sp_gpu_time_finalize(struct sp_gpu_time *gpu, const struct sp_steps *steps);

/* Gives the lists to a spill, after the last change of them. */
void sp_gpu_time_keep(struct sp_gpu_time *gpu, uint32_t steps, struct sp_spill *spill);

void sp_gpu_time_finish(struct sp_gpu_time *gpu);

/* Walks along the spans with intervals that come in the order of time. */
struct sp_gpu_walk {
	const struct sp_gpu_time *gpu; /* finalized */
	uint32_t first; /* the first span that ends after the last interval's begin */
};

#define SP_GPU_ANY_SPAN INT64_MAX

/* The part of an interval that is covered by spans whose phase had ended for the host by
 * `ended_by_ns`; SP_GPU_ANY_SPAN: by all spans. */
uint64_t sp_gpu_walk_covered_ns(struct sp_gpu_walk *walk, int64_t from_ns, int64_t to_ns,
				int64_t ended_by_ns);

/* False for parts that are no stretch of launches of their own: their work is in the others. */
bool sp_gpu_time_has_stretches(enum sp_account_phase phase);

#endif
