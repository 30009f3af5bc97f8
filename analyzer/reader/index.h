/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of the inputs, before any event is read: files, streams (the trace of a thread),
 * process images (a process from its exec or fork on) and hosts.
 *
 * Memory grows with threads and damaged places, not with events.
 */
#ifndef STAGEPROF_ANALYZER_INDEX_H
#define STAGEPROF_ANALYZER_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "analyzer/base/spill.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/reader/walk.h"
#include "trace/format.h"
#include "trace/live_lock.h"

/* The thread of a digest, which has no events: written and read by the rooms that know the sums
 * (metadata/thread_about.h, totals/stream_digest.h, training/trainer_digest.h). */
struct sp_digested {
	uint8_t *sums;		/* owned; NULL: taken already, or none */
	uint8_t *steps;		/* kept by spill; the same */
	struct sp_spill *spill; /* borrowed; may be NULL */
	uint32_t sums_bytes, steps_bytes;
	uint8_t *about; /* owned; metadata/thread_about.h; NULL: taken already */
	uint8_t *tail;	/* owned; hang/hang_tail.h; NULL: none */
	uint32_t about_bytes, tail_bytes;
	uint32_t *files; /* owned; numbers of names, in the order of the sums */
	uint32_t file_count;
	uint32_t role; /* of the thread, as sp_role_number() has it */
};

/* A stretch of one file that belongs to one stream. */
struct sp_segment {
	struct sp_segment *next; /* of the same file while it is indexed, then of the same stream */
	uint64_t stream_id;
	uint32_t file;		       /* index into sp_index.files */
	uint64_t at;		       /* offset of its first frame */
	uint64_t window_at;	       /* UINT64_MAX: no window */
	uint64_t window_newest;	       /* see sp_window_newest() */
	uint32_t window_capacity;      /* slots; 0: no window was read */
	struct sp_file_header *header; /* owned; NULL: the header is lost */
	char host[sizeof(((struct sp_file_header *)0)->host)];
	uint32_t pid, tid;
	uint64_t blocks, events; /* of intact block headers */
	uint64_t first;		 /* the lowest slot number in blocks and window */
	uint64_t limit;		 /* one past the last slot number in blocks and window */
	uint64_t lost;
	uint64_t lost_by[SP_LOST_CAUSES];
	uint32_t unfinished; /* slots of the window: see sp_window_unfinished() */
	bool has_last;	     /* a clean end */
	struct sp_mark mark;
	struct sp_mark_address mark_address;
	struct sp_clock clock;	      /* only its first and last point */
	struct sp_digested *digested; /* owned; NULL: the segment is of a trace, and has events */
};

/* Why the path of an opening call in flight is not known. */
enum sp_path_missing {
	SP_PATH_NOT_MISSING, /* it is known, or no path belongs to the call, or none may be kept */
	SP_PATH_ENDED,	     /* the process is gone, and nobody has read it before */
	SP_PATH_REFUSED,     /* the kernel lets this user not read the process */
	SP_PATH_MOVED,	     /* the thread went on while the trace was read */
	SP_PATH_FAR,	     /* the process is of another machine */
};

/* Damage of one file: the first damaged place, and the number of places. */
struct sp_file_damage {
	uint32_t places;
	uint64_t bytes; /* skipped */
	uint64_t at;
	enum sp_damage what;
	uint32_t version; /* the other version of the format, if a frame has one */
};

struct sp_file {
	char *path;
	int memory_fd; /* of a copy of what processes have in memory; -1: a file */
	int error;     /* -errno of open or read; 0: none */
	uint64_t size_bytes;
	uint32_t headers, windows, runs, frees;
	bool is_digest;
	uint32_t repeated;	/* threads of a digest that another input has, too, and further */
	uint32_t newest_writer; /* the greatest version in its headers; 0: no header */
	uint64_t blocks, zstd_bytes, payload_bytes, free_bytes;
	bool truncated; /* a stream in it has neither a clean end nor a window */
	struct sp_file_damage damage;
	struct sp_segment *segments, *last_segment;
	struct sp_run_frame marker;  /* the last one in it, where there are any */
	struct sp_call_frame *calls; /* owned */
	uint32_t call_count;
};

struct sp_host {
	char name[sizeof(((struct sp_file_header *)0)->host)];
	bool counter;
	struct sp_clock clock;
};

struct sp_process_image {
	uint32_t host;
	uint32_t pid, ppid;
	uint64_t start_ns;	  /* 0: not known */
	uint64_t parent_start_ns; /* 0: not known */
	bool forked, is_sampler;
	bool is_replaced; /* it went on as another program, by exec: the next image of its pid */
	char exe[sizeof(((struct sp_file_header *)0)->exe)];
	uint64_t process_lost;
	/* As in the header; rank and local_rank plus 1, and 0 everywhere: not known. */
	uint64_t rank, local_rank, world_size;
	uint64_t event_ps, own_ns, stall_ns;
	uint64_t ending; /* how << 8 | status: enum sp_ending_how; 0: not known */
	char state; /* the kernel's letter, when the index was read; 0: the process has ended, or
		       is another machine's, or its end is in the trace */
};

struct sp_stream {
	uint64_t id;
	uint32_t image, tid, segment;
	char comm[16];
	struct sp_segment *segments;
	uint64_t limit; /* slots from this number on are newer than the index */
	uint64_t lost;
	uint64_t lost_by[SP_LOST_CAUSES]; /* their sum may be below `lost`, because blocks contain
					     no cause */
	uint32_t unfinished;
	bool has_header, has_last, has_window;
	bool write_mode;
	struct sp_mark mark;
	struct sp_mark_address mark_address;
	char *mark_path; /* owned: what a call in flight opens; "..." before the end of a long path;
			    not escaped; NULL: not known */
	enum sp_path_missing path_missing;
	struct sp_live_lock *lock;    /* owned: what it waited for, as the launcher last saw it;
					 NULL: the launcher saw none */
	uint64_t lock_seen_ns;	      /* CLOCK_REALTIME, when the launcher first saw that */
	uint64_t lock_gone_ns;	      /* when it first saw that wait no more; 0: it did not */
	uint64_t opened_ticks;	      /* 0: not known */
	uint64_t last_ticks;	      /* of the last clock point */
	struct sp_digested *digested; /* of its segment; NULL: the stream has events */
	uint32_t readings;	      /* calls of sp_reader_open() for it */
	UT_hash_handle hh;
};

/* The last events lie in memory that this report did not find: the thread was killed, or still
 * runs, and its machine or its IPC namespace is another one. */
static inline bool sp_stream_tail_is_away(const struct sp_stream *s)
{
	return s->write_mode && !s->has_last && !s->has_window;
}

/* Further lists of steps, and the steps of digests, go into a file. */
#define SP_INDEX_MEMORY_BYTES ((size_t)32 << 20)

struct sp_index {
	struct sp_file *files;
	uint32_t file_count;
	uint32_t marked_from, marked_to; /* files that have run frames are in [from, to) */
	struct sp_stream **streams;	 /* by image, tid, part, id; after them those of samplers */
	uint32_t stream_count;
	uint32_t sampler_count;		 /* SP_HEADER_SAMPLER: no threads of the run */
	struct sp_process_image *images; /* by host, start, pid; after them samplers */
	uint32_t image_count;
	struct sp_host *hosts; /* by name */
	uint32_t host_count;
	struct sp_stream *by_id;      /* uthash */
	struct sp_spill *spill;	      /* of what is kept of all ranks; may be NULL */
	int64_t read_ns;	      /* CLOCK_REALTIME, when the reading of the files began */
	uint64_t digest_schema;	      /* set by the caller: digests of another one are not read */
	struct sp_progress *progress; /* counts every slot that is read; may be NULL */
};

void sp_index_finish(struct sp_index *index);

void sp_segment_free(struct sp_segment *segment);

/* The first stream of this image or of a later one; index->stream_count: there is none. */
uint32_t sp_index_first_stream(const struct sp_index *index, uint32_t image);

/* True where one process started another. */
bool sp_index_is_child(const struct sp_process_image *child, const struct sp_process_image *parent);

/* The process that started this one; image_count: it left no trace. */
uint32_t sp_index_parent(const struct sp_index *index, uint32_t image);

/* The file with the greatest version of stageprof in a header; NULL: no header. */
const struct sp_file *sp_index_newest_writer(const struct sp_index *index);

/* The file with the greatest version of the trace format that is not read; NULL: none. A digest has
 * versions of its own, and its damage says so. */
const struct sp_file *sp_index_other_format(const struct sp_index *index);

/* True where a thread has no events, because a digest has it. */
bool sp_index_has_digested(const struct sp_index *index);

/* Files of which nothing is known: not to be opened, or of another version of the format. */
uint32_t sp_index_unread(const struct sp_index *index);

/* Reads bytes of the file once more: a process may have stored to them since. False: they are not
 * there any more. Not for a copy of memory. */
bool sp_file_read_again(const struct sp_file *file, uint64_t at, void *ret, size_t bytes);

/* Notes damage. Two threads must not call it for one file at once. */
void sp_file_damaged(struct sp_file *file, enum sp_damage what, uint64_t at, uint64_t bytes);

/* A phrase for people, such as "ends inside a frame". */
const char *sp_damage_text(enum sp_damage what);

#endif
