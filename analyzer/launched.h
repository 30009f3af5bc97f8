/*
 * How long a device was busy with what a training thread launched between two instants: its spans
 * (analyzer/gpu_time.h) by when their first work was launched.
 */
#ifndef STAGEPROF_ANALYZER_LAUNCHED_H
#define STAGEPROF_ANALYZER_LAUNCHED_H

#include <stdint.h>

struct sp_report;

struct sp_launch {
	int64_t at_ns;
	uint64_t before_ns; /* busy with all that was launched earlier */
};

struct sp_launched {
	struct sp_launch *list; /* by at_ns; one more than `count`, behind all */
	uint32_t count;
};

/* Of a thread, by one of its streams: of a report that has its steps. None where nobody trains on it. Returns 0 or
 * -ENOMEM. */
int sp_launched_read(struct sp_launched *launched, const struct sp_report *report, uint32_t stream);
void sp_launched_finish(struct sp_launched *launched);

/* From from_ns on, before to_ns. */
uint64_t sp_launched_between(const struct sp_launched *launched, int64_t from_ns, int64_t to_ns);

#endif
