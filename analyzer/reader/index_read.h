/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading of the index: the frames of all files, before any event.
 */
#ifndef STAGEPROF_ANALYZER_INDEX_READ_H
#define STAGEPROF_ANALYZER_INDEX_READ_H

#include "analyzer/reader/index.h"

/* Adds a file, or the files of a directory whose names end in .zst. Returns 0 or -errno. */
int sp_index_add(struct sp_index *index, const char *path);

/*
 * Reads the frames of all files, with `jobs` threads, and joins them. Returns 0 or -ENOMEM. The
 * damage of a file is in its struct sp_file.
 */
int sp_index_read(struct sp_index *index, unsigned jobs);

#endif
