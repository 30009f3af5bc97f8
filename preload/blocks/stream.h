/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's file: made, grown, published to, cut. The layout (docs/FORMAT.md) is
 *
 *	HEADER  ( BLOCK zstd-frame | FREE )*  WINDOW
 *
 * after those of threads that ended, where the file is one that they left
 * (preload/files/spare_files.h). Every store and system call here leads from one valid state of the
 * file to another. Only the tail, from FREE to the end of WINDOW, is mapped. Files grow by whole
 * pages, each a FREE frame of its own, so that a write cut short by SIGKILL leaves a valid file;
 * then one store joins the frames. Every byte is written once before it is mapped, because a hole
 * on a full disk would be SIGBUS.
 *
 * Making, growing and cutting make system calls, and the caller holds all signals blocked
 * (sp_signals_*); publishing makes none. No descriptor stays open, and none is ever in the host's
 * table if the kernel allows (preload/sys/fd_private_task.h). Functions return 0 or -errno and
 * leave a valid file on failure.
 */
#ifndef STAGEPROF_PRELOAD_STREAM_H
#define STAGEPROF_PRELOAD_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "preload/blocks/stream_file.h"
#include "preload/files/arena.h"
#include "trace/format.h"

struct sp_stream_writer {
	uint8_t *map;	     /* the tail: of the file, or in an arena */
	size_t map_bytes;    /* 0: no tail */
	uint64_t map_offset; /* of map in the file; 0 in an arena */
	uint64_t free_offset;
	uint64_t window_offset;
	uint64_t file_bytes;		  /* of a mapped file */
	const struct sp_storage *storage; /* where the tail lies */
	struct sp_tail tail;		  /* in an arena */
	uint64_t written;		  /* the tail's blocks up to here are in the file */
	struct sp_stream_append *append;  /* one that still waits for the file system */
	struct sp_stream_file file;
	struct sp_arena_pool *pool;
	uint64_t stream_id;
	uint32_t pid, tid;
	int keeps_windows; /* set by the caller: a frame may hold an address in the window */
	int write_mode;	   /* the tail lies in an arena */
	int file_error;	   /* -errno: there is no file yet, and the arena holds all */
	char host[32];
};

/* The caller's part of the header; the stream adds the rest. */
struct sp_stream_identity {
	struct sp_file_header header; /* without frame, tag, stream_id, hash */
	struct sp_run_directory directory;
	struct sp_arena_pool *pool;	     /* outlives the stream */
	const struct sp_spare_files *spares; /* outlives the stream */
	int write_mode;			     /* asked for */
};

/* Makes a file with an empty window of `slots`, or continues one that another thread left. If
 * ret_header_page is not NULL, it gets a lasting mapping of the stream's header (for process_lost).
 */
int sp_stream_create(struct sp_stream_writer *stream, const struct sp_stream_identity *identity,
		     uint32_t slots, struct sp_file_header **ret_header_page);

struct sp_window_header *sp_stream_window(const struct sp_stream_writer *stream);
struct sp_slot *sp_stream_slots(const struct sp_stream_writer *stream);

/* The size that a zstd frame may have in the next block, and the address for it. */
size_t sp_stream_block_room(const struct sp_stream_writer *stream);
uint8_t *sp_stream_block_at(const struct sp_stream_writer *stream);

/*
 * Publishes the block whose zstd frame stands at sp_stream_block_at: fills the rest of the header
 * (frame, tag, identity, hash) and makes the block visible by one 8-byte store. No system call
 * except in write mode. The caller has filled first_index, slots, events, ticks, published, lost,
 * payload_bytes, zstd_*.
 */
void sp_stream_publish(struct sp_stream_writer *stream, struct sp_block_header *header);

/*
 * Call before each block: a block that became visible and was then left by longjmp out of a
 * handler counts as published. Returns the number of the slot after that block, or 0 if there is
 * none.
 */
uint64_t sp_stream_catch_up(struct sp_stream_writer *stream);

/*
 * Gives the file a new tail: room for a zstd frame of `block_bytes` and a window of `slots`, whose
 * first_index is `first`. Slots [first, last) are carried over. The old window is gone on success.
 */
int sp_stream_grow(struct sp_stream_writer *stream, size_t block_bytes, uint32_t slots,
		   uint64_t first, uint64_t last);

/* Cuts the file after its last block and releases it.
 * The last published block had SP_BLOCK_LAST. */
void sp_stream_finish(struct sp_stream_writer *stream);

/* Releases the mapping and leaves the file as it is. */
void sp_stream_abandon(struct sp_stream_writer *stream);

#endif
