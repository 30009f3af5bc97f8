/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a thread whose tail is mapped, MAP_SHARED: only where the file system keeps the space
 * that a file has (trace/filesystems.def). Every byte is written once before it is mapped: a hole
 * on a full disk would be SIGBUS. A file that is cut by another program is SIGBUS, too.
 *
 * Callers hold all signals blocked. Functions return 0 or -errno; the file is valid in either case.
 */
#ifndef STAGEPROF_PRELOAD_MAPPED_FILE_H
#define STAGEPROF_PRELOAD_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "preload/files/run_file.h"

struct sp_mapped_file {
	struct sp_run_directory directory;
	struct sp_inode inode;
	const char *name, *temporary;
};

/* The mapped part of the file, up to the file's end. */
struct sp_file_mapping {
	uint8_t *bytes;
	uint64_t offset;
	uint8_t *header; /* in a mapping of its own, which stays; NULL: none */
};

/* Makes the file of these bytes and maps it. -ENODEV where it is not to be mapped. */
int sp_mapped_file_make(struct sp_mapped_file *file, const void *bytes, size_t count,
			int wants_header, struct sp_file_mapping *ret_mapping);

/* Where a thread begins in a file that others have left. */
struct sp_file_room {
	uint64_t begin, end;
};

/* Maps a file that nobody writes to from the page of its `end` on, which a FREE frame follows; 0:
 * the file's end. The file is extended by FREE frames to have `bytes` or somewhat more after that,
 * and `most` in all. -ESTALE where it is not as its writer left it: another file, another user's,
 * or one that has another name, too. */
int sp_mapped_file_continue(const struct sp_mapped_file *file, uint64_t end, uint64_t bytes,
			    uint64_t most, int wants_header, struct sp_file_room *ret_room,
			    struct sp_file_mapping *ret_mapping);

/* Extends the file by pages, each a FREE frame, and maps it from `ret_mapping->offset` on. */
int sp_mapped_file_extend(const struct sp_mapped_file *file, uint64_t from, uint64_t to,
			  struct sp_file_mapping *ret_mapping);

int sp_mapped_file_cut(const struct sp_mapped_file *file, uint64_t bytes);

#endif
