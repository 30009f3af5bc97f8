/*
 * Collectives that are marked from the call to their end. All ranks leave one at once: who came last to the last
 * one of a step made the others wait. A thread that waits while one ends waited for it.
 */
#ifndef STAGEPROF_ANALYZER_COLLECTIVE_H
#define STAGEPROF_ANALYZER_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/process_calls.h"

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

/* The collectives of one process, from all threads of its image; none where its names tell of no collective. Returns 0 or
 * -ENOMEM; sp_process_calls_finish() it in either case. */
int sp_collective_calls_read(struct sp_process_calls *calls, struct sp_reader *reader,
			     const struct sp_report *report, uint32_t image);

/* True where one ended in (from_ns, to_ns]. */
bool sp_collective_ended(const struct sp_process_calls *calls, int64_t from_ns, int64_t to_ns);

#endif
