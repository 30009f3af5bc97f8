/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths of opening calls in flight: a mark has only the address. The launcher left the text in
 * the run, or the process still lives on this machine and has it in its memory. The launcher also
 * left the locks that threads waited for.
 */
#ifndef STAGEPROF_ANALYZER_CALL_PATHS_H
#define STAGEPROF_ANALYZER_CALL_PATHS_H

#include "analyzer/reader/index.h"

/* Sets mark_path or path_missing of each stream with a call in flight, and lock of those that the
 * launcher saw waiting for one. */
void sp_call_paths_learn(struct sp_index *index);

/* Why the path is not known, and what helps: a part of a sentence, in the language of the report.
 * NULL: it is not missing. */
const char *sp_path_missing_text(enum sp_path_missing missing);

/* The contract of JSON: "process-ended", "refused", ...; NULL: it is not missing. */
const char *sp_path_missing_name(enum sp_path_missing missing);

#endif
