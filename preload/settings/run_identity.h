/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run: a directory that all processes of a job share. The first process's constructor chooses
 * its name and token, which travel in STAGEPROF_RUN. The directory appears with the first event
 * of any process and is never a directory of another run: the marker file in it,
 * 0-run-<token>.zst, identifies the run.
 */
#ifndef STAGEPROF_PRELOAD_RUN_IDENTITY_H
#define STAGEPROF_PRELOAD_RUN_IDENTITY_H

#include <stdint.h>

#define SP_RUN_PATH_BYTES 4096
/* Names that a run may get: the base, up to base-64, and then one that is its own. So ten thousand
 * processes that begin at once ask a file server for a bounded number of names each. */
#define SP_RUN_NUMBERED 64u
#define SP_RUN_NUMBERS (SP_RUN_NUMBERED + 2)

/* A file or directory, whatever its name; 0, 0: not known. */
struct sp_inode {
	uint64_t device, number;
};

struct sp_run_identity {
	uint64_t token[2];
	uint64_t key[2];       /* of hashed names; in no file of the run */
	struct sp_inode inode; /* of `directory` */
	uint64_t beginner_pid; /* the process that began the run; exec keeps the pid */
	/* Long arrays come last: pages after a short path are not touched. */
	char base[SP_RUN_PATH_BYTES];	   /* absolute; the setting's value */
	char directory[SP_RUN_PATH_BYTES]; /* the directory made: base, or base-2, …; "" before the
					      claim */
};

extern struct sp_run_identity sp_run;

/* Constructor: joins the run of STAGEPROF_RUN or begins one, and sets the variable. Returns 0, or
 * -ENAMETOOLONG or another -errno where no absolute name can be made. */
int sp_run_init(void);

/* The same in a launcher's child, before it execs: a run that the parent began (the parent may be
 * preloaded itself) counts as begun by the child. */
int sp_run_init_launched(void);

/* Looks for the run's directory without making it: 0 with sp_run.directory set, or -ENOENT. Tries
 * up to SP_RUN_NUMBERS names. */
int sp_run_find(void);

/* Into SP_RUN_PATH_BYTES: base, then from number 2 on base with -2, -3, … before a final ".zst",
 * and beyond SP_RUN_NUMBERED with 16 digits of the run's token. */
void sp_run_candidate(char *ret, unsigned number);
/* Into SP_RUN_PATH_BYTES: the path of this run's marker in a directory. */
void sp_run_marker(char *ret, const char *directory);

/* Into SP_RUN_PATH_BYTES: the folder of base, without its last `up` names. up: 0 or more. */
void sp_run_parent(char *ret, unsigned up);

/* How many of the last folders above the run the setting names by what differs from process to
 * process (%h, %p, %r, %q): "/shared/%h/%r.zst" has 1. */
unsigned sp_run_own_folders(void);

/* This process's rank in its job, as a text from the launcher's environment;
 * "0" if there is none. */
const char *sp_run_rank(void);

/* This process's ranks in its job: each a number plus 1; 0: the launcher set none. */
struct sp_run_ranks {
	uint32_t rank, local_rank;
	uint32_t world_size; /* not plus 1 */
};

/* Reads the environment: for the constructor. */
struct sp_run_ranks sp_run_ranks(void);

#endif
