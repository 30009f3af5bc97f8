#include "trace/codec.h"

#include <errno.h>
#include <string.h>

#include "trace/columns.h"
#include "trace/numbers.h"
#include "trace/varint.h"

/* Kinds that a one-byte token can name; a table has them all, so that the loop need not look. */
#define SHORT_KINDS 16u
#define KINDS_MAX (SP_KIND_EVENTS + 256u)

enum form {
	FORM_NONE, /* no such kind in this block */
	FORM_SPAN,
	FORM_HOLE,
	FORM_EXTRA,
	FORM_BLOB,
};

struct kind {
	int64_t value; /* of its last slot */
	uint32_t arg;  /* its last one that was not 0 */
	uint32_t at;   /* of the times of its next slot */
	uint32_t limit; /* where they end */
	uint32_t kind;
	uint64_t form; /* enum form; 32 bytes in all, for the index is made in the innermost loop */
};

/*
 * A kind with more tokens than slots runs on into the times of the next ones, at most SP_BLOCK_SLOTS_MAX past the
 * last: it is found when all is done.
 */
struct times {
	int64_t gaps[2 * SP_BLOCK_SLOTS_MAX], ticks[2 * SP_BLOCK_SLOTS_MAX];
	int64_t extras[3][SP_BLOCK_SLOTS_MAX];
};

struct decoder {
	struct sp_input in[SP_COLUMNS];
	uint32_t kind_count, spans, extras;
	uint32_t extra_at; /* of the next EXTRA slot */
	uint64_t end, grain;
	uint32_t last_arg;
	struct kind kinds[KINDS_MAX];
};

static enum form form_of(uint64_t kind)
{
	switch (kind) {
	case SP_KIND_HOLE:
		return FORM_HOLE;
	case SP_KIND_EXTRA:
		return FORM_EXTRA;
	case SP_KIND_BLOB:
		return FORM_BLOB;
	}
	return kind < SP_KIND_EVENTS || (kind >= SP_KIND_DEFINE && kind < SP_KIND_EXTRA) ? FORM_SPAN : FORM_NONE;
}

static int kinds_read(struct decoder *d, uint32_t n)
{
	struct sp_input *in = &d->in[SP_COLUMN_KINDS];
	uint64_t count = sp_varint_get(in), slots = 0;

	if (count > KINDS_MAX)
		return -EBADMSG;
	d->kind_count = (uint32_t)count;
	memset(d->kinds, 0, SHORT_KINDS * sizeof(*d->kinds));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t kind = sp_varint_get(in), with = sp_varint_get(in);
		enum form form = form_of(kind);

		if (form == FORM_NONE || with > n - slots)
			return -EBADMSG;
		slots += with;
		d->kinds[i] = (struct kind){.kind = (uint32_t)kind, .form = form, .at = d->spans};
		d->spans += form == FORM_SPAN ? (uint32_t)with : 0;
		d->extras += form == FORM_EXTRA ? (uint32_t)with : 0;
		d->kinds[i].limit = d->spans;
	}
	return in->bad || slots != n ? -EBADMSG : 0;
}

static int times_read(struct decoder *d, struct times *times)
{
	sp_numbers_unpack(times->gaps, d->spans, &d->in[SP_COLUMN_GAPS]);
	sp_numbers_unpack(times->ticks, d->spans, &d->in[SP_COLUMN_TICKS]);
	for (int i = 0; i < 3; i++)
		sp_numbers_unpack(times->extras[i], d->extras, &d->in[SP_COLUMN_EXTRAS]);
	return d->in[SP_COLUMN_GAPS].bad || d->in[SP_COLUMN_TICKS].bad || d->in[SP_COLUMN_EXTRAS].bad ? -EBADMSG : 0;
}

static int decode_extra(struct decoder *d, const struct times *times, struct sp_slot *slot)
{
	uint32_t i = d->extra_at++;

	if (i >= d->extras)
		return -EBADMSG;
	slot->start = (uint64_t)times->extras[0][i];
	slot->ticks = (uint64_t)times->extras[1][i];
	slot->value = times->extras[2][i];
	slot->commit = SP_KIND_EXTRA;
	return 0;
}

/* A slot with no times. Returns 0 or -EBADMSG. */
static int decode_other(struct decoder *d, const struct times *times, uint64_t form, struct sp_slot *slot)
{
	switch (form) {
	case FORM_HOLE:
		memset(slot, 0, sizeof(*slot));
		return 0;
	case FORM_EXTRA:
		return decode_extra(d, times, slot);
	case FORM_BLOB:
		sp_blob_get(slot, &d->in[SP_COLUMN_BLOBS]);
		return 0;
	default:
		return -EBADMSG;
	}
}

/* NULL where there is none. */
static struct kind *kind_of_long(struct decoder *d, uint32_t *token)
{
	struct sp_input *in = &d->in[SP_COLUMN_KINDS];
	uint64_t x;

	x = sp_varint_get(in);
	if (in->bad || x >> 3 >= d->kind_count)
		return NULL;
	*token = (uint32_t)x;
	return &d->kinds[x >> 3];
}

/* What the token says anew: value and arg. Most say nothing. */
static void take_news(struct decoder *d, struct kind *kind, uint32_t token)
{
	if (token & 1)
		kind->value = sp_unzigzag(sp_varint_get(&d->in[SP_COLUMN_VALUES]));
	if ((token >> 1 & 3) == SP_ARG_IS_NEW)
		d->last_arg += (uint32_t)sp_unzigzag(sp_varint_get(&d->in[SP_COLUMN_ARGS]));
	else if ((token >> 1 & 3) == SP_ARG_IS_OF_KIND)
		d->last_arg = kind->arg;
}

static inline int is_zero_arg(uint32_t token)
{
	return (token >> 1 & 3) == SP_ARG_IS_ZERO;
}

static int decode_slots(struct decoder *d, const struct times *times, struct sp_slot *slots, uint32_t n)
{
	struct sp_input *in = &d->in[SP_COLUMN_KINDS];
	uint64_t end = d->end, grain = d->grain;
	uint32_t arg = 0;

	for (struct sp_slot *slot = slots; slot < slots + n; slot++) {
		uint32_t token = in->at < in->end ? *in->at : 0x80, at;
		struct kind *kind = &d->kinds[token >> 3 & (SHORT_KINDS - 1)];

		if (__builtin_expect(token >= 0x80, 0)) {
			kind = kind_of_long(d, &token);
			if (!kind)
				return -EBADMSG;
		} else {
			in->at++;
		}
		if (__builtin_expect(kind->form != FORM_SPAN, 0)) {
			if (decode_other(d, times, kind->form, slot) < 0)
				return -EBADMSG;
			continue;
		}
		if (token & 7) {
			take_news(d, kind, token);
			arg = is_zero_arg(token) ? 0 : d->last_arg;
			kind->arg = arg ? arg : kind->arg;
		} else {
			kind->arg = arg = d->last_arg;
		}
		at = kind->at++;
		slot->start = end + (uint64_t)times->gaps[at] * grain;
		slot->ticks = (uint64_t)times->ticks[at] * grain;
		slot->value = kind->value;
		slot->commit = (uint64_t)arg << 32 | kind->kind;
		end = slot->start + slot->ticks;
	}
	return 0;
}

static int all_is_used(const struct decoder *d)
{
	if (sp_columns_close(d->in) < 0 || d->extra_at != d->extras)
		return 0;
	for (uint32_t i = 0; i < d->kind_count; i++)
		if (d->kinds[i].form == FORM_SPAN && d->kinds[i].at != d->kinds[i].limit)
			return 0;
	return 1;
}

static int decode_tokens(struct sp_slot *slots, const struct sp_payload_head *head, const uint8_t *payload,
			 size_t bytes)
{
	struct decoder d;
	struct times times;

	d.spans = d.extras = d.extra_at = d.last_arg = 0;
	d.end = head->base_ticks;
	d.grain = head->grain;
	if (sp_columns_open(d.in, head, payload, bytes) < 0 || kinds_read(&d, head->slots) < 0 ||
	    times_read(&d, &times) < 0 || decode_slots(&d, &times, slots, head->slots) < 0)
		return -EBADMSG;
	return all_is_used(&d) ? 0 : -EBADMSG;
}

int sp_payload_decode(struct sp_slot *slots, uint32_t n, const uint8_t *payload, size_t bytes)
{
	struct sp_payload_head head;

	if (bytes < sizeof(head))
		return -EBADMSG;
	memcpy(&head, payload, sizeof(head));
	if (head.slots != n || n > SP_BLOCK_SLOTS_MAX || head.grain == 0)
		return -EBADMSG;
	switch (head.coding) {
	case SP_CODING_VARINTS:
		return sp_payload_decode_varints(slots, n, payload, bytes);
	case SP_CODING_TOKENS:
		return decode_tokens(slots, &head, payload, bytes);
	}
	return -EBADMSG;
}
