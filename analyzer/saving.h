/*
 * Checkpoints that other threads of a process save while its trainer goes on. A wait of the trainer's in which such a
 * one ends, and which was under way for most of it, is for the checkpoint: a join, the result of a future, a lock.
 */
#ifndef STAGEPROF_ANALYZER_SAVING_H
#define STAGEPROF_ANALYZER_SAVING_H

#include <stdbool.h>
#include <stdint.h>

struct sp_reader;
struct sp_report;

/* CLOCK_REALTIME ns of the host. */
struct sp_saving {
	int64_t start_ns, end_ns;
};

/* In the order of their ends. */
struct sp_savings {
	struct sp_saving *list;
	uint32_t count, room;
};

/* From all threads of the process of this stream but its own. Returns 0 or -ENOMEM; finish it in either case. */
int sp_savings_read(struct sp_savings *savings, struct sp_reader *reader, const struct sp_report *report,
		    uint32_t stream);
void sp_savings_finish(struct sp_savings *savings);

/* True where one ends in (from_ns, to_ns] that was under way for half of that time or more. */
bool sp_savings_held(const struct sp_savings *savings, int64_t from_ns, int64_t to_ns);

#endif
