/*
 * Was a signal meant for us alone, or sent to the whole process group? The kernel does not tell,
 * and a command that had it from the group must not get it from us again: a second SIGTERM means
 * "now" to many a trainer. So a process of our group looks on: what it got too was for all. Where
 * there is none to be had every signal counts as ours alone.
 */
#ifndef STAGEPROF_LAUNCHER_WITNESS_H
#define STAGEPROF_LAUNCHER_WITNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sp_witness {
	pid_t pid;		   /* -1: none */
	volatile uint32_t *counts; /* by signal, shared with it: how many it got */
	uint32_t seen[65];
};

/* Signals are blocked by the caller. It ends with us. */
void sp_witness_start(struct sp_witness *witness);
void sp_witness_end(struct sp_witness *witness);

/* True where the witness got the signal as well; waits up to 20 ms for it. */
bool sp_witness_saw(struct sp_witness *witness, int signal);

#endif
