/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of the run that live on this machine. The kernel is asked once, when the index is
 * read: two answers within one report would describe two moments.
 */
#ifndef STAGEPROF_ANALYZER_PROCESS_STATES_H
#define STAGEPROF_ANALYZER_PROCESS_STATES_H

#include "analyzer/reader/index.h"

/* Sets `state` of each image. A process may have ended after its file was read: `ending` is read
 * again of those that are gone without one. */
void sp_process_states_learn(struct sp_index *index);

#endif
