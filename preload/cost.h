/*
 * What recording one event takes on this machine: measured once a process image tree, before its first
 * event, in memory of its own. The hook's own call, a dozen instructions, is not in it.
 */
#ifndef STAGEPROF_PRELOAD_COST_H
#define STAGEPROF_PRELOAD_COST_H

#include <stdint.h>

/* Takes some tens of microseconds; nothing where it was done before (a forked child). After
 * sp_clock_settle; makes no system call. */
void sp_cost_measure(void);

/* Picoseconds; 0: not measured. */
uint64_t sp_cost_event_ps(void);

#endif
