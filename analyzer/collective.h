/*
 * The last collective of each step, which all ranks leave at once: who came to it last made the others
 * wait.
 */
#ifndef STAGEPROF_ANALYZER_COLLECTIVE_H
#define STAGEPROF_ANALYZER_COLLECTIVE_H

#include <stdint.h>

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

#endif
