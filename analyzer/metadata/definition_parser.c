/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/definition_parser.h"

#include <string.h>

static const uint32_t none = UINT32_MAX;

void sp_definition_parser_reset(struct sp_definition_parser *d)
{
	d->got = none;
	d->number = 0;
}

static int complete(struct sp_definition_parser *d)
{
	if (d->got < d->open.bytes)
		return 0;
	d->got = none;
	return d->defined(d->context, &d->open);
}

static int begin(struct sp_definition_parser *d, const struct sp_slot *slot, uint32_t kind)
{
	d->got = none;
	if (slot->value < 0 || slot->value > SP_NAME_BYTES_MAX)
		return 0;
	d->open.what = kind - SP_KIND_DEFINE;
	d->open.id = sp_commit_arg(slot->commit);
	d->open.bytes = (uint32_t)slot->value;
	d->got = 0;
	return complete(d);
}

static int append(struct sp_definition_parser *d, const struct sp_slot *slot)
{
	uint32_t bytes = sp_commit_arg(slot->commit);

	if (d->got == none)
		return 0;
	if (bytes > SP_SLOT_BLOB_BYTES || bytes > d->open.bytes - d->got) {
		d->got = none;
		return 0;
	}
	memcpy(d->open.blob + d->got, slot, bytes);
	d->got += bytes;
	return complete(d);
}

int sp_definition_parser_take(struct sp_definition_parser *d, const struct sp_batch *batch)
{
	int r = 0;

	if (batch->number != d->number)
		d->got = none;
	d->number = batch->number + batch->n;
	for (uint32_t i = 0; r == 0 && i < batch->n; i++) {
		uint32_t kind = sp_commit_kind(batch->slots[i].commit);

		if (kind == SP_KIND_BLOB)
			r = append(d, &batch->slots[i]);
		else if (kind >= SP_KIND_DEFINE && kind < SP_KIND_EXTRA)
			r = begin(d, &batch->slots[i], kind);
		else
			d->got = none;
	}
	return r;
}
