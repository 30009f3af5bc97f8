/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs by their names: the newest run of a folder, and the view or the run that a wrong word meant.
 */
#ifndef STAGEPROF_ANALYZER_RUN_FIND_H
#define STAGEPROF_ANALYZER_RUN_FIND_H

#include <stdbool.h>
#include <stddef.h>

#define SP_RUN_NAME_BYTES 256u
#define SP_RUN_LIST_BYTES 1024u

/* The run*.zst of the working folder that changed last. False: there is none. */
bool sp_run_newest(char ret[SP_RUN_NAME_BYTES]);

/* The runs that this folder holds, newest first, as far as they fit. False: the path is a run, a
 * file, or a folder without runs. */
bool sp_runs_in(const char *path, char ret[SP_RUN_LIST_BYTES]);

/* True for a word that names nothing: no path, and not written as one. */
bool sp_word_is_lost(const char *word);

/* The view, or the other first word, that is spelled most like this one. NULL: none is. */
const char *sp_view_meant(const char *word);

#endif
