/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists that are complete and may be many: they stay in memory while they are few, and the further
 * ones go into a file without a name. The system reads back what is looked at, and drops it again
 * when memory is short. So a job's steps need memory of a size that is set, however many they are.
 *
 * The file lies in TMPDIR, or else in /var/tmp or /tmp. Where none of these takes a file or has
 * space, lists stay in memory.
 */
#ifndef STAGEPROF_ANALYZER_SPILL_H
#define STAGEPROF_ANALYZER_SPILL_H

#include <stddef.h>

struct sp_spill;

/* Keeps `memory_bytes` in memory. NULL: there is no memory. */
struct sp_spill *sp_spill_create(size_t memory_bytes);

/* Lists in its file end with it. */
void sp_spill_destroy(struct sp_spill *spill);

/*
 * Takes a list of `bytes` that malloc() made, and returns it, or its copy in the file. The list is
 * read from then on and not changed. Any thread may call this. Without a spill, lists stay.
 */
void *sp_spill_keep(struct sp_spill *spill, void *list, size_t bytes);

/* Frees a list that sp_spill_keep() returned, or one that malloc() made. */
void sp_spill_free(struct sp_spill *spill, void *list);

#endif
