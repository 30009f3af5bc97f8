/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a digest file, from runs that were read and from other digests. Records of digests
 * are taken as they are, so any grouping and order of the same runs gives the same bytes.
 */
#ifndef STAGEPROF_ANALYZER_DIGEST_MAKE_H
#define STAGEPROF_ANALYZER_DIGEST_MAKE_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/reader/digest.h"

struct sp_report;
struct sp_spill;

struct sp_digest_item {
	struct sp_digest_record record;
	uint8_t *stored; /* kept by the set's spill */
};

struct sp_digest_set {
	struct sp_spill *spill; /* made with the first record */
	struct sp_digest_item *list;
	uint32_t count, room;
	/* Adds what the view `hang` needs of a thread; set by the caller. */
	void (*write_tail)(struct sp_digest_fields *f, const struct sp_report *report,
			   uint32_t stream);
	uint32_t repeated; /* records that were left out, because another goes as far or further */
};

/* Adds the process images of a report that was read with is_for_digest. Returns 0 or -ENOMEM. */
int sp_digest_set_add(struct sp_digest_set *set, const struct sp_report *report);

/* Adds the records of a digest. Returns 1, 0 where the file is no digest, or -errno. Its damage is
 * noted in *ret_file, which holds nothing to free. */
int sp_digest_set_add_file(struct sp_digest_set *set, const char *path, struct sp_file *ret_file);

/* Orders the records and leaves out the repeated ones, then writes the file. Returns 0 or -EIO. */
int sp_digest_set_write(struct sp_digest_set *set, FILE *file);

void sp_digest_set_finish(struct sp_digest_set *set);

#endif
