/*
 * Where the variables lie that every hook reads: side by side, in one or two lines of the cache. A system call
 * leaves little of ours there, and a hook waits for each line on its own.
 */
#ifndef STAGEPROF_PRELOAD_HOT_H
#define STAGEPROF_PRELOAD_HOT_H

#define SP_HOT_DATA __attribute__((section("sp_hot_data")))
/* Of the object that the linker meets first: the others follow in its line. */
#define SP_HOT_FIRST SP_HOT_DATA __attribute__((aligned(64)))

#endif
