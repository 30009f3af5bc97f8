/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of the launcher that asks stageprof-report again and again whether training stands
 * still. Where it has for long, the report's answer comes on stderr, a command runs, and the job
 * gets a signal. The host does not notice before that.
 */
#ifndef STAGEPROF_WATCH_HANG_WATCH_H
#define STAGEPROF_WATCH_HANG_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hang_watch; /* of hang_watch.c */

struct sp_hang_watch {
	/* Wishes of the user. */
	uint64_t limit_ns; /* 0: no watch */
	char *command;	   /* for the shell; NULL: none */
	int signal;	   /* 0: none */
	/* Set by the caller. */
	const char *report;  /* path of stageprof-report */
	const char *preload; /* LD_PRELOAD without the recorder; NULL: none */
	/* True where sp_run names a run that this launcher began; called in the thread. */
	bool (*is_ready)(void *context);
	void *context;

	struct hang_watch *thread; /* NULL: it does not run */
	bool has_killed;	   /* after the end: the job got the signal */
};

/* Reads "TIME[,exec=COMMAND][,kill=SIGNAL]" into the wishes; TIME as "300", "300s", "5m" or "2h".
 * Changes the text, which has to live as long as the watch. Returns NULL, or what is wrong. */
const char *sp_hang_watch_parse(char *text, struct sp_hang_watch *ret);

/* Watches the command `pid`. The caller has blocked all signals. */
void sp_hang_watch_start(struct sp_hang_watch *watch, pid_t pid);

/* A child of this process that the caller has reaped, which may be of the watch; any thread. */
void sp_hang_watch_reaped(struct sp_hang_watch *watch, pid_t pid, int status);

/* Nothing is sent to the command any more once this has returned. */
void sp_hang_watch_stop(struct sp_hang_watch *watch);

#endif
