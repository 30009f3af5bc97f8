/*
 * Collectives that are marked from the call to their end. All ranks leave one at once: who came last to the last
 * one of a step made the others wait. A thread that waits while one ends waited for it.
 */
#ifndef STAGEPROF_ANALYZER_COLLECTIVE_H
#define STAGEPROF_ANALYZER_COLLECTIVE_H

#include <stdint.h>

#include <stdbool.h>

struct sp_reader;
struct sp_report;

/* CLOCK_REALTIME ns of the host; end_ns == 0: the step has none. */
struct sp_collective {
	int64_t start_ns, end_ns;
};

/*
 * Of one trainer, parallel to its steps; from all threads of its process. Collectives belong to the
 * step they begin in. *ret is the caller's to free. Returns 0 or -ENOMEM.
 */
int sp_collectives_read(const struct sp_report *report, uint32_t trainer,
			struct sp_collective **ret);

/* When collectives of one process ended, CLOCK_REALTIME ns of the host, in order. */
struct sp_collective_ends {
	int64_t *at_ns;
	uint32_t count, room;
};

/* From all threads of an image; none where its names tell of no collective. Returns 0 or -ENOMEM. */
int sp_collective_ends_read(struct sp_collective_ends *ends, struct sp_reader *reader,
			    const struct sp_report *report, uint32_t image);
void sp_collective_ends_finish(struct sp_collective_ends *ends);

/* True where one ended in (from_ns, to_ns]. */
bool sp_collective_ended(const struct sp_collective_ends *ends, int64_t from_ns, int64_t to_ns);

#endif
