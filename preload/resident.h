/*
 * Memory that the process holds (RSS), as events of kind `memory`: taken where a step's backward, the step, or
 * the fetch of a batch ends, four times a second at most. Not for hooks: it reads a file, aside (aside.h).
 */
#ifndef STAGEPROF_PRELOAD_RESIDENT_H
#define STAGEPROF_PRELOAD_RESIDENT_H

/* Keeps errno; any thread. Nothing happens while recording is off, and behind a seccomp filter. */
void sp_resident_sample(void);

#endif
