/*
 * Runs a function where its descriptors are not the host's: in a short-lived task that shares this
 * process's memory but has a descriptor table of its own, while the calling thread waits in the kernel.
 *
 * clone(2): CLONE_VM | CLONE_VFORK | CLONE_THREAD without a copy of the host's descriptors (they are
 * shared for an instant, then dropped by close_range(2) CLOSE_RANGE_UNSHARE, so that none of them sees
 * the flush that closing a copy would cause on NFS and FUSE). As a thread it is no child: no wait(2) sees
 * it and no SIGCHLD comes. Where a sandbox forbids this, the function runs in place.
 *
 * The function must use only preload/sys.h, touch no thread-local variable and return quickly. The
 * caller has all signals blocked. Cost: about 50 to 200 µs.
 */
#ifndef STAGEPROF_PRELOAD_ASIDE_H
#define STAGEPROF_PRELOAD_ASIDE_H

void sp_aside(void (*function)(void *argument), void *argument);

/* Constructor: 1 makes every errand run in place. valgrind ends a program that calls clone so. */
void sp_aside_init(int in_place);

/* All signals blocked, and given back; no libc, so that no hook and no cancellation is involved. */
unsigned long sp_signals_block(void);
void sp_signals_restore(unsigned long before);

#endif
