/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a file, one after another, each checked. Bytes that are no frame of this version
 * are reported as damage, up to the next frame.
 */
#ifndef STAGEPROF_ANALYZER_WALK_H
#define STAGEPROF_ANALYZER_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/reader/source.h"
#include "trace/format.h"

enum sp_unit_kind {
	SP_UNIT_HEADER,
	SP_UNIT_BLOCK, /* the zstd frame included, not yet checked */
	SP_UNIT_WINDOW,
	SP_UNIT_RUN,
	SP_UNIT_CALL,
	SP_UNIT_FREE,
	SP_UNIT_UNKNOWN, /* a skippable frame of a kind that this version does not know */
	SP_UNIT_DAMAGE,	 /* bytes that are no such frame */
};

enum sp_damage {
	SP_DAMAGE_NONE,
	SP_DAMAGE_FOREIGN, /* no frame of ours */
	SP_DAMAGE_ORPHAN,  /* zstd data without a block header */
	SP_DAMAGE_HEAD,	   /* a frame of ours whose head does not match its hash */
	SP_DAMAGE_VERSION, /* a frame of another version of the format */
	SP_DAMAGE_CUT,	   /* the file ends inside a frame */
	SP_DAMAGE_PAYLOAD, /* a block whose data does not match its hash, or is not valid */
	SP_DAMAGE_COUNT,   /* a word with a check that is wrong */
	SP_DAMAGE_READ,	   /* a read failed there */
};

struct sp_unit {
	enum sp_unit_kind kind;
	uint64_t at;	/* offset in the file */
	uint64_t bytes; /* to the next unit; clipped to the file's end */
	bool cut;	/* a BLOCK, WINDOW or FREE that the file's end clips */
	enum sp_damage damage;
	uint32_t version; /* of SP_DAMAGE_VERSION */
	union {
		struct sp_file_header header;
		struct sp_block_header block;
		struct sp_window_header window;
		struct sp_run_frame run;
		struct sp_call_frame call;
	};
};

struct sp_walk {
	struct sp_source *source;
	uint64_t at;
	uint64_t free_at; /* the FREE frame directly before `at`; UINT64_MAX: none */
	bool found;	  /* a frame of ours was seen */
};

/* Starts at the offset of a unit. The caller keeps the source,
 * with its file open, during the walk. */
void sp_walk_init(struct sp_walk *w, struct sp_source *source, uint64_t at);

/* Returns 1 and a unit, 0 at the end of the file, or -errno where a read failed. */
int sp_walk_next(struct sp_walk *w, struct sp_unit *ret);

/* Checks one frame's head at `p`. Returns SP_DAMAGE_NONE and fills *ret, all but `at` and `cut`. */
enum sp_damage sp_unit_parse(struct sp_unit *ret, const uint8_t *p, size_t bytes);

#endif
