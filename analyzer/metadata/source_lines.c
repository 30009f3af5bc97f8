/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/hash_free.h"
#include "analyzer/base/order.h"
#include "trace/format.h"

static struct sp_line *line_make(uint32_t image, const struct sp_slow_call_metadata *metadata,
				 const uint8_t *text, uint32_t bytes)
{
	struct sp_line *line = calloc(1, sizeof(*line) + bytes + 1u);

	if (!line)
		return NULL;
	line->text_bytes = bytes;
	line->key.image = image;
	line->key.kind = metadata->kind;
	line->key.way = sp_way_of(metadata->kind, metadata->arg);
	memcpy(line->key.text, text, bytes);
	return line;
}

int sp_lines_take(struct sp_lines *lines, uint32_t image, const struct sp_definition *d)
{
	struct sp_slow_call_metadata metadata;
	struct sp_line *line, *known;

	if (d->bytes < sizeof(metadata))
		return 0;
	memcpy(&metadata, d->blob, sizeof(metadata));
	line = line_make(image, &metadata, (const uint8_t *)d->blob + sizeof(metadata),
			 d->bytes - (uint32_t)sizeof(metadata));
	if (!line)
		return -ENOMEM;
	HASH_FIND(hh, lines->by_key, &line->key, sizeof(line->key) + line->text_bytes, known);
	if (!known && HASH_COUNT(lines->by_key) < SP_LINES_MAX &&
	    sp_text_budget_take(lines->texts, sizeof(*line) + line->text_bytes)) {
		HASH_ADD_KEYPTR(hh, lines->by_key, &line->key, sizeof(line->key) + line->text_bytes,
				line);
		known = line;
	}
	if (known != line)
		free(line);
	if (!known) {
		lines->turned_away++;
		return 0;
	}
	known->calls++;
	known->ticks += metadata.ticks;
	if (metadata.ticks >= known->max_ticks) {
		known->max_ticks = metadata.ticks;
		known->stack = d->id;
	}
	return 0;
}

static int compare(const struct sp_line *x, const struct sp_line *y)
{
	return SP_UP(key.image) ?: SP_UP(key.kind) ?: SP_UP(key.way)
	       ?: strcmp(x->key.text, y->key.text);
}

void sp_lines_sort(struct sp_lines *lines)
{
	HASH_SORT(lines->by_key, compare);
}

void sp_lines_finish(struct sp_lines *lines)
{
	SP_HASH_FREE(lines->by_key);
	*lines = (struct sp_lines){.by_key = NULL};
}
