/*
 * Which executables record nothing by themselves: preload/dormant.def. Names are base names.
 */
#ifndef STAGEPROF_PRELOAD_DORMANT_H
#define STAGEPROF_PRELOAD_DORMANT_H

#include <stddef.h>

/* "gcc-12" is gcc; "ld.gold" is ld; "shellcheck" is not sh. `name` need not end in NUL. */
int sp_dormant_matches(const char *exe, const char *name, size_t length);

/* 1 where the table has it. */
int sp_dormant_is(const char *exe);

/* 1 where the table has it as one that starts no program but such: unobserved it leaves no gap. */
int sp_dormant_starts_nothing(const char *exe);

/* In place: compilers run for gcc as "x86_64-linux-gnu-gcc-12", and the table knows the last part. */
void sp_dormant_drop_triplet(char *exe);

#endif
