/*
 * What a training thread was doing at an instant, for work that other threads and the GPU do in its name: what
 * autograd's threads launch belongs to backward, for the training thread waits in it.
 */
#ifndef STAGEPROF_ANALYZER_LAUNCH_PART_H
#define STAGEPROF_ANALYZER_LAUNCH_PART_H

#include "analyzer/report.h"

struct sp_launch_parts {
	struct sp_piece *pieces; /* in the order of time, none inside another */
	uint32_t count, room;
	const struct sp_steps *steps;
};

/* Reads the trainer's thread. Returns 0 or -ENOMEM. Memory: some pieces a step. */
int sp_launch_parts_read(struct sp_launch_parts *parts, const struct sp_report *report,
			 const struct sp_trainer *trainer);
void sp_launch_parts_finish(struct sp_launch_parts *parts);

/* Time that nothing covers is forward where it leads to a backward; outside steps, and else, it is other. */
enum sp_account_part sp_launch_part(const struct sp_launch_parts *parts, int64_t at_ns);

#endif
