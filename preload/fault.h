/*
 * The fault seam: lets a test fail the Nth system call of the recorder (STAGEPROF_FAULT_SEAM builds
 * only; in a release it is nothing at all).
 */
#ifndef STAGEPROF_PRELOAD_FAULT_H
#define STAGEPROF_PRELOAD_FAULT_H

#ifdef STAGEPROF_FAULT_SEAM
/* Counts down; returns -errno for the call to be failed, else 0. Settings: preload/fault.c. */
long sp_fault_syscall(long number);
/* Ends the process by SIGKILL at the Nth store boundary of a rotation. */
void sp_fault_store(void);
#else
static inline long sp_fault_syscall(long number)
{
	(void)number;
	return 0;
}
static inline void sp_fault_store(void)
{
}
#endif

#endif
