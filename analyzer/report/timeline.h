/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a few threads for a zoomable picture: the training threads, the threads that make their
 * batches, and the busiest other threads of their processes. The longest events of the whole run
 * are kept, and all events of a window of a few steps, if there is room. The room bounds memory for
 * any run.
 */
#ifndef STAGEPROF_ANALYZER_TIMELINE_H
#define STAGEPROF_ANALYZER_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct sp_totals;
struct sp_training;
struct sp_workers;

#define SP_TIMELINE_LANES_MAX 16u

struct sp_timeline_event {
	int64_t start_ns; /* CLOCK_REALTIME */
	uint64_t dur_ns;
	int64_t value;
	uint32_t kind, arg;
};

/* The longest of the events that were seen, the longest first. */
struct sp_longest {
	struct sp_timeline_event *events; /* while they are read, up to twice as many as `room` */
	uint32_t count, room;
	bool is_full; /* the first `room` are the longest of those that were compared */
	uint64_t seen;
};

enum sp_lane_role {
	SP_LANE_TRAINER,
	SP_LANE_WORKER,
	SP_LANE_OTHER,
};

struct sp_lane {
	uint32_t stream;
	enum sp_lane_role role;
	struct sp_longest inside, outside; /* of the window */
};

struct sp_timeline {
	struct sp_lane lanes[SP_TIMELINE_LANES_MAX];
	uint32_t count;
	uint32_t left_out; /* threads with events and no lane */
	/* CLOCK_REALTIME; empty where the run has no steps. */
	int64_t from_ns, to_ns;
	/* Steps of the first lane's trainer; last_step included. */
	uint32_t first_step, last_step, slowest_step;
};

/* Reads the threads that are drawn. room: events in the lists of all lanes. Returns 0 or -ENOMEM;
 * call sp_timeline_finish() in either case. */
int sp_timeline_read(struct sp_timeline *timeline, const struct sp_totals *totals,
		     const struct sp_training *training, const struct sp_workers *workers,
		     uint32_t room);
void sp_timeline_finish(struct sp_timeline *timeline);

#endif
