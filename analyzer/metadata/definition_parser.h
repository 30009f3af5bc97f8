/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts definitions together from their slots, across batches.
 */
#ifndef STAGEPROF_ANALYZER_DEFINITION_PARSER_H
#define STAGEPROF_ANALYZER_DEFINITION_PARSER_H

#include <stdint.h>

#include "analyzer/reader/reader.h"
#include "trace/format.h"

struct sp_definition {
	uint32_t what; /* enum sp_define, or a newer one */
	uint32_t id;
	uint32_t bytes;
	uint8_t blob[SP_NAME_BYTES_MAX + SP_SLOT_BLOB_BYTES];
};

struct sp_definition_parser {
	struct sp_definition open;
	uint32_t got;	 /* bytes of the open definition; above open.bytes: no definition is open */
	uint64_t number; /* of the slot that must come next */
	int (*defined)(void *context, const struct sp_definition *d); /* 0, or negative to stop */
	void *context;
};

/* Call it before the first batch of each stream. */
void sp_definition_parser_reset(struct sp_definition_parser *d);

/*
 * Calls `defined` for each definition that this batch completes. A definition that misses a slot is
 * dropped. Returns 0, or what `defined` returned.
 */
int sp_definition_parser_take(struct sp_definition_parser *d, const struct sp_batch *batch);

#endif
