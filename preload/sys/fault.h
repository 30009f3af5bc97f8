/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault seam: a test makes the Nth system call of the recorder fail, or ends the process there
 * or at the Nth store boundary of a file. STAGEPROF_FAULT_SEAM builds only; a release has none of
 * it.
 */
#ifndef STAGEPROF_PRELOAD_FAULT_H
#define STAGEPROF_PRELOAD_FAULT_H

#ifdef STAGEPROF_FAULT_SEAM
struct sp_fault {
	long fail_at;	   /* the Nth system call fails; 0: none */
	long fail_on;	   /* 1: every later call fails, too */
	long fail_errno;   /* positive */
	int fail_writes;   /* only pwrite64 and pwritev are counted and fail: a full disk */
	long kill_at;	   /* SIGKILL at the Nth store boundary; 0: never */
	long kill_at_call; /* SIGKILL before the Nth system call; 0: never */
	long act_at; /* `act` at the Nth store boundary, which it may leave by longjmp; 0: never */
	void (*act)(void);
	long calls, boundaries; /* so far */
};

/* Also set by STAGEPROF_TEST_FAIL=N[+][:ERRNO] and STAGEPROF_TEST_KILL=N. */
extern struct sp_fault sp_fault;

/* Returns -errno if the call is to fail, else 0. */
long sp_fault_syscall(long number);
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
