/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's own work in a thread of the host, as far as it is more than a hook's few
 * instructions: blocks, files and looks at the system. Such work may wait, which is no wait of the
 * program. The last eight times of a thread are kept. Any thread, any handler; no system call.
 */
#ifndef STAGEPROF_PRELOAD_OWN_WORK_H
#define STAGEPROF_PRELOAD_OWN_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/blocks/thread_slots.h"

/* The work that began at this time (ticks) ends now, and counts as the recorder's cost. */
void sp_own_work_end(struct sp_thread *t, uint64_t begin);

/* True where the time lies in such work. */
bool sp_own_work_has(struct sp_thread *t, uint64_t at);

#endif
