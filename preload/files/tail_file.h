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
	uint64_t header_at; /* the stream's HEADER */
	uint64_t end;	    /* of its last block */
	uint64_t bytes;	    /* 0: it is still to be made */
};

/* The frames of an append: whole ones, one after the other. The first part begins with a frame. */
struct sp_tail_frames {
	const void *bytes;
	size_t count;
};
#define SP_TAIL_PARTS 2u

struct sp_tail_append {
	const char *name, *temporary;	     /* of the file, and while it is made */
	const struct sp_file_header *header; /* whole; of a file that is made */
	const struct sp_file_header *words;  /* the image's, which are stored to; NULL: none */
	struct sp_tail_frames frames[SP_TAIL_PARTS];
	int is_last; /* the file ends after these frames */
};

/*
 * Appends frames, and makes the file first where there is none yet. Callers hold all signals
 * blocked. Returns 0 or -errno with the file as it was: -EEXIST where the name is taken, -ESTALE
 * where it has become another file's, which is left alone.
 */
int sp_tail_file_append(struct sp_tail_file *file, const struct sp_tail_append *append);

/* The same for a caller that is inside of sp_fd_private_task() already. */
int sp_tail_file_append_here(struct sp_tail_file *file, const struct sp_tail_append *append);

/*
 * Appends frames, of which the first is a HEADER, to a file that others have left: `file` has its
 * inode, and its end as in struct sp_spare_file. The file has `most` bytes after it at the most:
 * -EFBIG. Otherwise as above; on return `file->end` is what the next one may continue it from.
 */
int sp_tail_file_continue(struct sp_tail_file *file, uint64_t most,
			  const struct sp_tail_append *append);
int sp_tail_file_continue_here(struct sp_tail_file *file, uint64_t most,
			       const struct sp_tail_append *append);

#endif
