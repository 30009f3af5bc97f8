/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow path of a record: the window of the calling thread is full. The thread itself makes a
 * block of it, inside the call that filled it, and makes the rare system calls of stream.h.
 */
#ifndef STAGEPROF_PRELOAD_FULL_WINDOW_H
#define STAGEPROF_PRELOAD_FULL_WINDOW_H

#include "preload/blocks/thread_slots.h"

/* Stores a record that has found no room in slots `number` to `number + slots`, which the caller
 * took; or counts it as lost. */
void sp_record_slow(struct sp_thread *t, const struct sp_new_record *record, uint32_t slots,
		    uint64_t number);

#endif
