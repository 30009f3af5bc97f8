/*
 * Checkpoints that other threads of a process save while its trainer goes on. A wait of the trainer's in which such a
 * one ends, and which was under way for most of it, is for the checkpoint: a join, the result of a future, a lock.
 */
#ifndef STAGEPROF_ANALYZER_SAVING_H
#define STAGEPROF_ANALYZER_SAVING_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/process_calls.h"

/* From all threads of the process of this stream but its own. Returns 0 or -ENOMEM; sp_process_calls_finish() it in either
 * case. */
int sp_savings_read(struct sp_process_calls *savings, struct sp_reader *reader, const struct sp_report *report,
		    uint32_t stream);

/* True where one ends in (from_ns, to_ns] that was under way for half of that time or more. */
bool sp_savings_held(const struct sp_process_calls *savings, int64_t from_ns, int64_t to_ns);

#endif
