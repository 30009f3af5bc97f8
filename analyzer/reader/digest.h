/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digest files (docs/DIGEST.md): the threads of process images, with the sums of their events
 * instead of the events. A record is one process image, and its bytes do not depend on the file, so
 * records of several files merge by their keys, in any order and grouping.
 *
 * A thread of a digest becomes a segment with `digested` bytes, and a stream like any other,
 * without events. The rooms totals and training read those bytes.
 */
#ifndef STAGEPROF_ANALYZER_DIGEST_H
#define STAGEPROF_ANALYZER_DIGEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/reader/digest_fields.h"
#include "analyzer/reader/index.h"
#include "analyzer/reader/source.h"

#define SP_DIGEST_MAGIC "SPDIGEST"
#define SP_DIGEST_VERSION 2u
#define SP_DIGEST_HEAD_BYTES 24u
#define SP_DIGEST_RATIO_MAX 4u		/* plain bytes of a record by stored ones */
#define SP_DIGEST_THREAD_BYTES_MIN 64u	/* stored bytes of a record by its threads */
#define SP_DIGEST_RECORD_MAX (1u << 30) /* stored bytes */

struct sp_digest_head {
	char magic[8];
	uint32_t version;
	uint32_t reserved;
	uint64_t schema; /* the names of stages and phases, in their order */
};

/* The name of a process image; `slots` decides between two records of one image. */
struct sp_digest_key {
	char host[64];
	uint64_t start_ns;
	uint32_t pid;
	uint32_t threads;
	uint64_t slots; /* of all threads: the greater record goes further */
};

struct sp_digest_record {
	uint32_t stored_bytes, plain_bytes; /* equal: not compressed; both 0: the end of the file */
	uint64_t hash;			    /* XXH64, seed 0: of the key and the stored bytes */
	struct sp_digest_key key; /* of the end: slots is the number of records before it */
};

/* Fields of one thread, written or read; `segment` owns what is read. */
void sp_digest_thread_fields(struct sp_digest_fields *f, struct sp_segment *segment);

/* The order of records in a file: by key, then by bytes. `slots` and `threads` do not count. */
int sp_digest_key_compare(const struct sp_digest_key *a, const struct sp_digest_key *b);

uint64_t sp_digest_hash(const struct sp_digest_key *key, const void *stored, uint32_t bytes);

/* True where the file begins as a digest does. */
bool sp_digest_is(struct sp_source *source);

/*
 * Reads all records of a digest. take() gets the stored bytes, which are valid during the call, and
 * returns 0 or -errno. schema: that of this program. Notes damage of `file`, and goes on after it
 * where it can. Returns 0, -ENOMEM, what take() returned, or -errno of a read.
 */
int sp_digest_records(struct sp_source *source, struct sp_file *file, uint64_t schema,
		      int (*take)(void *context, const struct sp_digest_record *record,
				  const uint8_t *stored, uint64_t at),
		      void *context);

/* Adds the threads of a digest to the file's segments. Returns 0, -ENOMEM or -errno. */
int sp_digest_read(struct sp_index *index, struct sp_file *file, struct sp_source *source);

#endif
