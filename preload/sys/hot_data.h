/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A section for the variables that every hook reads: side by side, in one or two cache lines. A
 * system call evicts most of our lines, and a hook waits for each line.
 */
#ifndef STAGEPROF_PRELOAD_HOT_DATA_H
#define STAGEPROF_PRELOAD_HOT_DATA_H

#define SP_HOT_DATA __attribute__((section("sp_hot_data")))
/* For the first object in link order: the others follow in its line. */
#define SP_HOT_FIRST SP_HOT_DATA __attribute__((aligned(64)))

#endif
