/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why one thread does not run: its context switches and its page faults, as perf software events
 * that need no rights (perf_event_paranoid 2). The kernel writes them into rings of memory:
 * 20 KB for switches, 68 KB with faults, which count in the user's perf_event_mlock_kb. The
 * descriptors are closed as soon as the rings are mapped, because a mapping keeps its event alive.
 * Fork leaves the child without events and without the mapping, exec ends both.
 *
 * Page faults that the kernel takes inside a system call are not seen. prctl(2)
 * PR_TASK_PERF_EVENTS_DISABLE of the host stops the events.
 */
#ifndef STAGEPROF_PRELOAD_PERF_RING_H
#define STAGEPROF_PRELOAD_PERF_RING_H

#include <stdbool.h>
#include <stdint.h>

enum sp_perf_event {
	SP_PERF_SWITCHES,
	SP_PERF_BEGINS,
	SP_PERF_MAJORS,
	SP_PERF_MINORS,
	SP_PERF_EVENTS
};

enum sp_off_core {
	SP_OFF_CORE_NONE,
	SP_OFF_CORE_PAGE,    /* a page fault, from its begin to its end */
	SP_OFF_CORE_BLOCKED, /* outside a page fault: the thread gave its core away */
	SP_OFF_CORE_READY,   /* outside a page fault: the kernel took its core away */
};

/* Zeroed where nothing is observed. All times are CLOCK_MONOTONIC, ns. */
struct sp_perf_ring {
	void *pages[SP_PERF_EVENTS]; /* NULL: without this event */
	bool is_open, has_faults;
	bool is_full, was_full; /* at the last begin of taking, and at the one before */
	uint64_t out_ns;	/* of an open switch; 0: none */
	bool is_preempted;
	uint64_t fault_ns, address; /* of an open fault; fault_ns 0: none */
	uint64_t fault_blocked_ns, fault_ready_ns;
};

struct sp_off_core_time {
	enum sp_off_core what;
	uint64_t start_ns, end_ns;
	/* Members of a page fault: */
	bool is_major; /* the page had to be read */
	uint64_t address;
	uint64_t blocked_ns, ready_ns; /* of its time */
	uint64_t lost;		       /* records that had no room before this one, though no
					  begin of taking said so */
};

/* Opens the events of a thread of this process; faults: also those of page faults. Returns 0 or
 * -errno. Makes system calls and has descriptors open: inside sp_fd_private_task(). */
int sp_perf_ring_open(struct sp_perf_ring *ring, uint32_t tid, bool faults);

void sp_perf_ring_close(struct sp_perf_ring *ring);

/* Takes the next time off the core out of the ring. False where the ring is empty; ret->lost is set
 * in any case. No system call. The thread itself calls it. */
bool sp_perf_ring_next(struct sp_perf_ring *ring, struct sp_off_core_time *ret);

/* Before the first of a series of sp_perf_ring_next(). True where the next record may have had no
 * room: what the rings hold ends before now. */
bool sp_perf_ring_take_begin(struct sp_perf_ring *ring);

/* True where there is something to take. */
bool sp_perf_ring_holds(const struct sp_perf_ring *ring);

#endif
