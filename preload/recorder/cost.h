/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The price of recording one event on this machine. It is measured once for a process and its
 * forked children, before the first event, in memory of its own. It excludes the hook's own ~12
 * instructions.
 */
#ifndef STAGEPROF_PRELOAD_COST_H
#define STAGEPROF_PRELOAD_COST_H

#include <stdint.h>

/* Takes some microseconds; does nothing in a forked child. Call it after
 * sp_clock_calibrate. Makes no system call. */
void sp_cost_measure(void);

/* Picoseconds; 0: not measured. */
uint64_t sp_cost_event_ps(void);

#endif
