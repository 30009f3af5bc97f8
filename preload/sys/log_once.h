/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on stderr, at most one from a process and its forked children, for any number of
 * failures. Async-signal-safe; no libc; errno is kept. The line is dropped if descriptor 2 is
 * closed or is a data file of the host (opened for writing as a regular file after the start).
 */
#ifndef STAGEPROF_PRELOAD_LOG_ONCE_H
#define STAGEPROF_PRELOAD_LOG_ONCE_H

/* Writes "stageprof: WHAT VALUE: WHY; FIX". value may be NULL; error is -errno or 0. */
void sp_log_once(const char *what, const char *value, long error, const char *fix);

/* No more lines: a sandbox may kill a process that writes one. */
void sp_log_stop(void);

/* In the constructor: notes the file of stderr. */
void sp_log_init(void);

#endif
