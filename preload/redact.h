/*
 * STAGEPROF_PATHS: how much of a path gets into the run.
 *
 *	full      the path
 *	basename  what is behind its last slash
 *	hash      a keyed hash and the extension, which the report needs; the same in all processes of a run.
 *	          The key is random, travels in STAGEPROF_RUN and is in no file of the run
 *	none      nothing
 *
 * What is no absolute path ("pipe:[42]") stays. A setting that is none of these counts as
 * none, and is told at the start. Async-signal-safe.
 */
#ifndef STAGEPROF_PRELOAD_REDACT_H
#define STAGEPROF_PRELOAD_REDACT_H

#include <stddef.h>

/* Bytes that the array behind `path` must have. */
#define SP_REDACT_BYTES 64u

/* Changes the path in place, and returns its new length. */
size_t sp_redact(char *path, size_t length);

/* Constructor: says so where the setting is not understood. */
void sp_redact_init(void);

#endif
