/*
 * One thread's file: made, grown, published to, cut. The layout is docs/FORMAT.md's
 *
 *	HEADER  ( BLOCK zstd-frame | FREE )*  WINDOW
 *
 * and every store and system call here goes from one valid state of the file to another. Only the tail,
 * from FREE to the end of WINDOW, is mapped. Files grow by whole pages, each a FREE frame of its own, so
 * that a write cut short by SIGKILL is valid too; then one store joins them. Every byte is written once before
 * it is mapped: a hole on a full disk would be SIGBUS.
 *
 * Making, growing and cutting make system calls, and callers hold all signals blocked (sp_signals_*);
 * publishing makes none. No descriptor stays open and none is ever in the host's table where the kernel
 * allows (preload/aside.h). Functions return 0 or -errno and leave a valid file behind on failure.
 */
#ifndef STAGEPROF_PRELOAD_STREAM_H
#define STAGEPROF_PRELOAD_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define SP_STREAM_NAME_BYTES 224

struct sp_stream {
	uint8_t *map;	     /* the tail of the file; write mode: anonymous memory in its stead */
	size_t map_bytes;    /* 0: no file */
	uint64_t map_offset; /* of map in the file */
	uint64_t free_offset;
	uint64_t window_offset;
	uint64_t file_bytes;
	uint64_t stream_id;
	uint32_t pid, tid;
	int write_mode; /* no shared mapping here: blocks are written by pwrite */
	char host[32];
	const char *directory; /* the run's, absolute; outlives the stream */
	char name[SP_STREAM_NAME_BYTES];
};

/* What the caller knows of itself; the stream adds the rest of the header. */
struct sp_stream_identity {
	struct sp_file_header header; /* filled but for frame, tag, stream_id and hash */
	const char *directory;	      /* the run's, absolute; stays valid as long as the stream */
	int write_mode;		      /* asked for */
};

/* Makes the file with an empty window of `slots`. Where ret_header_page is not NULL it gets a mapping of
 * the file's first page that stays (for process_lost), or NULL in write mode. */
int sp_stream_create(struct sp_stream *stream, const struct sp_stream_identity *identity,
		     uint32_t slots, struct sp_file_header **ret_header_page);

struct sp_window_header *sp_stream_window(const struct sp_stream *stream);
struct sp_slot *sp_stream_slots(const struct sp_stream *stream);

/* Bytes that a zstd frame may take in the next block; and where to put it. */
size_t sp_stream_block_room(const struct sp_stream *stream);
uint8_t *sp_stream_block_at(const struct sp_stream *stream);

/*
 * Publishes the block whose zstd frame stands at sp_stream_block_at: fills in the rest of the header
 * (frame, tag, identity, hash) and makes it visible by one 8-byte store. No system call, but in write
 * mode. The caller filled first_index, slots, events, ticks, published, lost, payload_bytes, zstd_*.
 */
int sp_stream_publish(struct sp_stream *stream, struct sp_block_header *header);

/*
 * Before each block: one that was made visible and then left by longjmp out of a handler counts as published.
 * Returns the number of the slot behind it, or 0 where there is none.
 */
uint64_t sp_stream_settle(struct sp_stream *stream);

/*
 * Gives the file a new tail: room for a zstd frame of `block_bytes` and a window of `slots`, whose
 * first_index is `first`. Slots [first, last) are carried over. The old window is gone on success.
 */
int sp_stream_grow(struct sp_stream *stream, size_t block_bytes, uint32_t slots, uint64_t first,
		   uint64_t last);

/* Cuts the file behind its last block and lets go of it. The block published last had SP_BLOCK_LAST. */
void sp_stream_finish(struct sp_stream *stream);

/* Lets go of the mapping and leaves the file as it is. */
void sp_stream_abandon(struct sp_stream *stream);

#endif
