/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process. The recorder knows the status of a process that exits by itself, the
 * launcher that of its command; of a process of this host the kernel knows if it still runs.
 */
#ifndef STAGEPROF_ANALYZER_PROCESS_END_H
#define STAGEPROF_ANALYZER_PROCESS_END_H

#include <stdbool.h>
#include <stdint.h>

struct sp_run;
struct sp_totals;

enum sp_process_how {
	SP_PROCESS_UNKNOWN,   /* no clean end in the trace, and the host is another one */
	SP_PROCESS_EXITED,    /* with a status */
	SP_PROCESS_SIGNALED,  /* by a signal that is known */
	SP_PROCESS_OOM,	      /* killed while the kernel killed for lack of memory */
	SP_PROCESS_ENDED,     /* by itself; the status is not known */
	SP_PROCESS_KILLED,    /* gone without a clean end */
	SP_PROCESS_RUNNING,   /* now */
	SP_PROCESS_STOPPED,   /* now, by SIGSTOP or the like */
	SP_PROCESS_DISK_FULL, /* its trace could not grow, and has no end */
	SP_PROCESS_HOWS
};

struct sp_process_end {
	enum sp_process_how how;
	unsigned status; /* SP_PROCESS_EXITED: of the exit; SP_PROCESS_SIGNALED, _OOM: the signal */
	int64_t at_ns;	 /* CLOCK_REALTIME; of a process that runs: of its last event */
	bool is_seen;	 /* at_ns: when the launcher last saw it, after its last event */
};

/* The command that the launcher ran. */
struct sp_command_end {
	bool is_known;
	uint32_t pid;
	struct sp_process_end end;
	uint64_t oom_kills;
	/* When the launcher last saw that the command ran; INT64_MIN: not known. `pid` is known
	 * with it. */
	int64_t alive_ns;
};

struct sp_command_end sp_command_end_of(const struct sp_run *run);

/* The process that began first. The run has one at least. */
uint32_t sp_process_first(const struct sp_run *run);

struct sp_process_end sp_process_end_of(const struct sp_run *run, const struct sp_totals *totals,
					uint32_t image);

/* When the launcher last saw a command that was killed with it, or of which nothing is known;
 * INT64_MIN: not known. */
int64_t sp_command_seen_ns(const struct sp_run *run, const struct sp_totals *totals);

/* A process that left no end lived at least until it was seen. */
void sp_process_end_seen(struct sp_process_end *end, int64_t seen_ns);

/* The pid of a process of the run that lives now on this machine; 0: there is none. */
uint32_t sp_process_living(const struct sp_run *run, const struct sp_totals *totals);

/* The contract of JSON: "exited", "signaled", ... */
const char *sp_process_how_name(enum sp_process_how how);

#endif
