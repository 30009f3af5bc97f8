#include "trace/columns.h"

#include <errno.h>
#include <string.h>

void sp_blob_get(struct sp_slot *slot, struct sp_input *in)
{
	size_t bytes = in->at < in->end ? *in->at++ : SP_SLOT_BLOB_BYTES + 1;

	memset(slot, 0, sizeof(*slot));
	slot->commit = (uint64_t)bytes << 32 | SP_KIND_BLOB;
	if (bytes > SP_SLOT_BLOB_BYTES || (size_t)(in->end - in->at) < bytes) {
		in->bad = 1;
		return;
	}
	memcpy(slot, in->at, bytes);
	in->at += bytes;
}

int sp_columns_open(struct sp_input in[SP_COLUMNS], const struct sp_payload_head *head,
		    const uint8_t *payload, size_t bytes)
{
	const uint8_t *at = payload + sizeof(*head), *end = payload + bytes;

	for (unsigned i = 0; i < SP_COLUMNS; i++) {
		if ((size_t)(end - at) < head->column_bytes[i])
			return -EBADMSG;
		in[i] = (struct sp_input){at, at + head->column_bytes[i], 0};
		at += head->column_bytes[i];
	}
	return at == end ? 0 : -EBADMSG;
}

int sp_columns_close(const struct sp_input in[SP_COLUMNS])
{
	for (unsigned i = 0; i < SP_COLUMNS; i++)
		if (in[i].bad || in[i].at != in[i].end)
			return -EBADMSG;
	return 0;
}
