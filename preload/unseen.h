/*
 * Libraries that read and write files where no hook is: they ask the kernel themselves, by instructions of their own.
 */
#ifndef STAGEPROF_PRELOAD_UNSEEN_H
#define STAGEPROF_PRELOAD_UNSEEN_H

/* At the process's end: those that are loaded are named in the run's coverage. */
void sp_unseen_end(void);

#endif
