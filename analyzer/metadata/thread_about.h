/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions of a thread as bytes of a digest: its name, its processor time, and the names of the
 * files in which it spent most time. The first thread of a process also has the command, the lines
 * of coverage, and the notes of the process.
 */
#ifndef STAGEPROF_ANALYZER_THREAD_ABOUT_H
#define STAGEPROF_ANALYZER_THREAD_ABOUT_H

#include "analyzer/metadata/metadata.h"
#include "analyzer/reader/digest_fields.h"

/* files: numbers in metadata.files, in the order in which the sums of the thread have them. */
void sp_thread_about_write(struct sp_digest_fields *f, const struct sp_metadata *metadata,
			   const struct sp_index *index, uint32_t stream, const uint32_t *files,
			   uint32_t file_count);

/* Takes the bytes of all threads of digests, and frees them; what does not fit is left out.
 * with_files: names of files are wanted. Returns 0 or -ENOMEM. */
int sp_thread_abouts_take(struct sp_metadata *metadata, const struct sp_index *index,
			  bool with_files);

#endif
