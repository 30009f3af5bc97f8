/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STAGEPROF_PATHS: the part of a path that gets into the run.
 *
 *	full      the path
 *	basename  the part after the last slash
 *	hash      a keyed hash and the extension, which the report needs; the same in all processes
 *		  of a run. The key is random, travels in STAGEPROF_RUN and is in no file of the run
 *	none      nothing
 *
 * A text that is no absolute path ("pipe:[42]") stays. Any other setting counts as none, and is
 * logged at the start. Async-signal-safe.
 */
#ifndef STAGEPROF_PRELOAD_REDACT_H
#define STAGEPROF_PRELOAD_REDACT_H

#include <stddef.h>

/* The least size of the array that `path` points to. */
#define SP_REDACT_BYTES 64u

/* Changes the path in place, and returns its new length. */
size_t sp_redact(char *path, size_t length);

/* 1 where the whole path may be kept unchanged, or the part after its last slash. Both return 0
 * under "hash" and "none". */
int sp_redact_keeps_whole(void);
int sp_redact_keeps_last_part(void);

/* The same for an address of the network, which is one part: basename keeps it. */
size_t sp_redact_peer(char *address, size_t length);

/* Constructor: logs a setting that is not understood. */
void sp_redact_init(void);

#endif
