/*
 * The run: a directory that all processes of a job share. Its name and token are settled in the first
 * process's constructor and travel in STAGEPROF_RUN; the directory appears with the first event of any
 * of them, and never is one that another run made: a run is told by the marker file in it,
 * 0-run-<token>.zst.
 */
#ifndef STAGEPROF_PRELOAD_RUN_H
#define STAGEPROF_PRELOAD_RUN_H

#include <stdint.h>

#define SP_RUN_PATH_BYTES 4096
#define SP_RUN_NUMBERS 10000u /* a run that finds as many names taken is not recorded */

struct sp_run {
	uint64_t token[2];
	uint64_t key[2];		   /* of hashed names; in no file of the run */
	char base[SP_RUN_PATH_BYTES];	   /* absolute; what was asked for */
	char directory[SP_RUN_PATH_BYTES]; /* what it became: base, or base-2, …; "" before the claim */
	uint64_t beginner_pid;		   /* who began it: a process that execs stays what it is */
};

extern struct sp_run sp_run;

/* Constructor: joins the run of STAGEPROF_RUN or begins one, and sets the variable. Returns 0, or
 * -ENAMETOOLONG or another -errno where no absolute name can be made. */
int sp_run_init(void);

/* The same in a launcher's child, before it execs: what its parent began (it may be preloaded itself) counts as
 * begun by the child. */
int sp_run_init_launched(void);

/*
 * First event of a process: finds or makes the directory, 0700. Signals are blocked by the caller.
 * Returns 0, or -errno with the reason. Idempotent.
 */
int sp_run_claim(void);

/* Looks for the run's directory and makes none: 0 with sp_run.directory set, or -ENOENT. Looks at up to
 * SP_RUN_NUMBERS names: for a launcher, not for a process that records. */
int sp_run_find(void);

/* Into SP_RUN_PATH_BYTES: base, then from number 2 on base with -2, -3, … before a final ".zst". */
void sp_run_candidate(char *ret, unsigned number);
/* Likewise: the marker of this run in a directory. */
void sp_run_marker(char *ret, const char *directory);

/* This process's rank in its job, as its launcher's environment tells: a text; "0" where there is none. */
const char *sp_run_rank(void);

/* Where this process stands in its job: each a number plus 1, 0 where no launcher told it. */
struct sp_run_place {
	uint32_t rank, local_rank;
	uint32_t world_size; /* not plus 1 */
};

/* Reads the environment: for the constructor. */
struct sp_run_place sp_run_place(void);

#endif
