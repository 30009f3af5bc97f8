/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executables that record nothing by default: preload/settings/dormant.def. Names are base names.
 */
#ifndef STAGEPROF_PRELOAD_DORMANT_H
#define STAGEPROF_PRELOAD_DORMANT_H

#include <stddef.h>

/* "gcc-12" is gcc; "ld.gold" is ld; "shellcheck" is not sh. `name` need not end in NUL. */
int sp_dormant_matches(const char *exe, const char *name, size_t length);

/* Returns 1 if the table has the name. */
int sp_dormant_is(const char *exe);

/* Returns 1 if the table says that the program starts only dormant programs: unobserved it leaves
 * no gap. */
int sp_dormant_starts_nothing(const char *exe);

/* In place: gcc runs compilers as "x86_64-linux-gnu-gcc-12"; the table has the last part. */
void sp_dormant_drop_triplet(char *exe);

#endif
