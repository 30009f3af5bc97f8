/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the events of one thread into steps and pauses as they come.
 */
#ifndef STAGEPROF_ANALYZER_STEP_CUTTER_H
#define STAGEPROF_ANALYZER_STEP_CUTTER_H

#include "analyzer/steps/step_cut.h"

void sp_cutter_init(struct sp_cutter *cutter, struct sp_steps *steps,
		    const struct sp_process_metadata *image);
/* Takes one event; events come in the order of time. is_collective: the event is a wait on a
 * condition in which a collective was in flight (sp_collective_wait()). */
void sp_cutter_take(struct sp_cutter *cutter, const struct sp_slot *slot, int64_t start_ns,
		    int64_t end_ns, bool is_collective);
/* After the last event; frees what the cutter holds. */
void sp_cutter_finish(struct sp_cutter *cutter);

#endif
