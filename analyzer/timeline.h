/*
 * Events of a few threads for a picture that can be zoomed: the training threads, those that make
 * their batches, and the busiest others of their processes. Of the whole run the longest events
 * are kept, and all of them, if there is room, of a window of a few steps. Memory is bounded by
 * the room, whatever the run.
 */
#ifndef STAGEPROF_ANALYZER_TIMELINE_H
#define STAGEPROF_ANALYZER_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/json.h"
#include "analyzer/report.h"

#define SP_TIMELINE_LANES_MAX 16u

struct sp_timeline_event {
	int64_t start_ns; /* CLOCK_REALTIME */
	uint64_t dur_ns;
	int64_t value;
	uint32_t kind, arg;
};

/* A heap with the shortest event first: what a longer one replaces. */
struct sp_longest {
	struct sp_timeline_event *events;
	uint32_t count, room;
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
	uint32_t first_step, last_step, slowest_step; /* of the first lane's trainer; last: in it */
};

/* room: of all lanes and both lists together. Returns 0 or -ENOMEM. */
int sp_timeline_read(struct sp_timeline *timeline, const struct sp_report *report, uint32_t room);
void sp_timeline_finish(struct sp_timeline *timeline);

/* As an object; docs/HTML.md tells its members. */
void sp_timeline_json(const struct sp_timeline *timeline, const struct sp_report *report,
		      struct sp_json *j);

#endif
