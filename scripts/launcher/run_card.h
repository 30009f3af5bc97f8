/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of `stageprof run`: the card, which stageprof-report makes, and the next commands.
 */
#ifndef STAGEPROF_LAUNCHER_RUN_CARD_H
#define STAGEPROF_LAUNCHER_RUN_CARD_H

struct sp_card_wishes {
	const char *preload;	 /* LD_PRELOAD as we found it; NULL: it was not set */
	const char *earlier;	 /* the run to compare with; NULL: none */
	const char *page;	 /* the page to make; NULL: none */
	int is_quiet, is_joined; /* is_joined: the run goes on, so there is no card yet */
};

/* Prints the card of sp_run, whose directory exists. */
void sp_card_print(const struct sp_card_wishes *wishes);

/* "run-2.html" for run-2.zst, into SP_PATH_BYTES, in the working directory. */
void sp_card_page_name(char *ret, const char *directory);

#endif
