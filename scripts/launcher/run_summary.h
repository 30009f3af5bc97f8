/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of `stageprof run`: the short summary, which stageprof-report makes, and the next
 * commands.
 */
#ifndef STAGEPROF_LAUNCHER_RUN_SUMMARY_H
#define STAGEPROF_LAUNCHER_RUN_SUMMARY_H

struct sp_summary_wishes {
	const char *preload;	 /* LD_PRELOAD as we found it; NULL: it was not set */
	const char *earlier;	 /* the run to compare with; NULL: none */
	const char *page;	 /* the page to make; NULL: none */
	int can_repeat;		 /* `stageprof again` knows the command */
	int is_quiet, is_joined; /* is_joined: the run goes on, so there is no summary yet */
};

/* Prints the short summary of sp_run, whose directory exists. */
void sp_run_summary_print(const struct sp_summary_wishes *wishes);

/* "run-2.html" for run-2.zst, into SP_PATH_BYTES, in the working directory. */
void sp_run_page_name(char *ret, const char *directory);

#endif
