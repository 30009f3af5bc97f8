/*
 * One line on stderr, at most one from a process and its forked children, however many things fail.
 * Async-signal-safe; no libc; errno kept. Where descriptor 2 is closed or is a data file of the host
 * (opened for writing as a regular file after start) the line is not said.
 */
#ifndef STAGEPROF_PRELOAD_SAY_H
#define STAGEPROF_PRELOAD_SAY_H

/* "stageprof: WHAT VALUE: WHY; FIX". value may be NULL; error is -errno or 0. */
void sp_say(const char *what, const char *value, long error, const char *fix);

/* No more lines: a sandbox may kill who writes one. */
void sp_say_stop(void);

/* In the constructor: remembers whether there is a stderr to speak to. */
void sp_say_init(void);

#endif
