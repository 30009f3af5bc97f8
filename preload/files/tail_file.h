/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a thread whose tail lies in an arena: blocks are appended to it, and nothing of it is
 * mapped. It is a valid sequence of zstd frames between any two system calls and when one of them
 * is cut short: between appends it ends in a FREE frame up to a whole page.
 */
#ifndef STAGEPROF_PRELOAD_TAIL_FILE_H
#define STAGEPROF_PRELOAD_TAIL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "preload/files/run_file.h"
#include "trace/format.h"

struct sp_tail_file {
	struct sp_run_directory directory;
	struct sp_inode inode;
	uint64_t end;	/* of its last block */
	uint64_t bytes; /* 0: it is still to be made */
};

struct sp_tail_append {
	const char *name, *temporary;	     /* of the file, and while it is made */
	const struct sp_file_header *header; /* whole */
	const struct sp_file_header *words;  /* the image's, which are stored to */
	const void *blocks;
	size_t block_bytes;
	int is_last; /* the file ends after these blocks */
};

/*
 * Appends blocks, and makes the file first where there is none yet. Callers hold all signals
 * blocked. Returns 0 or -errno with the file as it was: -EEXIST where the name is taken, -ESTALE
 * where it has become another file's, which is left alone.
 */
int sp_tail_file_append(struct sp_tail_file *file, const struct sp_tail_append *append);

#endif
