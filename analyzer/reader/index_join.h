/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second half of the index: the segments of files become streams, process images and hosts.
 */
#ifndef STAGEPROF_ANALYZER_INDEX_JOIN_H
#define STAGEPROF_ANALYZER_INDEX_JOIN_H

struct sp_index;

/* Moves all segments from their files to streams. Returns 0 or -ENOMEM. */
int sp_index_join(struct sp_index *index);

#endif
