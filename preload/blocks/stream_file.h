/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that a stream writes to: its own, or one that another thread left, and another one
 * where a name has become somebody else's. A copy of the state is enough to append by: the stream
 * takes the copy back.
 */
#ifndef STAGEPROF_PRELOAD_STREAM_FILE_H
#define STAGEPROF_PRELOAD_STREAM_FILE_H

#include <stdint.h>

#include "preload/files/spare_files.h"
#include "preload/files/tail_file.h"
#include "trace/format.h"

#define SP_STREAM_NAME_BYTES 224
/* The bytes of a name in the directory, a temporary one included. */
#define SP_STREAM_FILE_NAME_BYTES (SP_STREAM_NAME_BYTES + 32u)

struct sp_stream_file {
	struct sp_tail_file tail;
	const struct sp_spare_files *spares;
	uint32_t spare;			 /* the file's number among them; 0: none */
	uint32_t replaced;		 /* how often another program took the file's name */
	struct sp_spare_name named;	 /* of the file, which another thread may have made */
	char name[SP_STREAM_NAME_BYTES]; /* its text */
	struct sp_file_header header;
};

/* From now on the thread has no file. */
void sp_stream_file_leave(struct sp_stream_file *file);

/* The file's name has become another program's file, which is left alone. */
void sp_stream_file_lose(struct sp_stream_file *file);

/* The thread has made the file. */
void sp_stream_file_note(struct sp_stream_file *file);

/* Makes the name of the file in its directory, in SP_STREAM_FILE_NAME_BYTES. */
void sp_stream_file_name(const struct sp_stream_file *file, char *buffer, const char *prefix);

/*
 * The stream continues, by `use`, a file that another thread has left. A file that cannot be
 * continued now stays as it is. One that is missing, changed or full is not tried again. -ENOENT:
 * there is none.
 */
int sp_stream_file_continue(struct sp_stream_file *file, int (*use)(void *context), void *context);

/* Blocks of a tail. */
struct sp_stream_blocks {
	struct sp_tail_frames frames;
	const struct sp_file_header *words; /* as in struct sp_tail_append */
	int is_last;			    /* as there */
};

/* Appends blocks, and makes or takes a file first where there is none yet. Inside of a private
 * task. Returns 0 or -errno, as sp_tail_file_append_here(). */
int sp_stream_file_append(struct sp_stream_file *file, const struct sp_stream_blocks *blocks);

/* As above, but to another file where the name of ours has become another program's file. Readers
 * join files by the stream's number. */
int sp_stream_file_append_somewhere(struct sp_stream_file *file,
				    const struct sp_stream_blocks *blocks);

#endif
