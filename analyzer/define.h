/*
 * Puts definitions together from their slots, across batches.
 */
#ifndef STAGEPROF_ANALYZER_DEFINE_H
#define STAGEPROF_ANALYZER_DEFINE_H

#include <stdint.h>

#include "analyzer/reader.h"
#include "trace/format.h"

struct sp_definition {
	uint32_t what; /* enum sp_define, or a newer one */
	uint32_t id;
	uint32_t bytes;
	uint8_t blob[SP_NAME_BYTES_MAX + SP_SLOT_BLOB_BYTES];
};

struct sp_definer {
	struct sp_definition open;
	uint32_t got;	 /* bytes of the open definition; more than it has: none is open */
	uint64_t number; /* of the slot that must come next */
	int (*defined)(void *context, const struct sp_definition *d); /* 0, or negative to stop */
	void *context;
};

/* Before the first batch of each stream. */
void sp_definer_reset(struct sp_definer *d);

/*
 * Calls `defined` for each definition that this batch completes. One that misses a slot is dropped.
 * Returns 0, or what `defined` returned.
 */
int sp_definer_take(struct sp_definer *d, const struct sp_batch *batch);

#endif
