#include "analyzer/launch_part.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/clock.h"
#include "analyzer/later.h"
#include "analyzer/step_cut.h"
#include "analyzer/step_piece.h"

#define PIECES_MAX (1u << 22) /* what comes after is not told apart */

static bool is_part(const struct sp_piece *piece)
{
	enum sp_account_part part = sp_piece_part(piece->kind);

	return part != SP_ACCOUNT_other && part != SP_ACCOUNT_h2d_copy &&
	       part != SP_ACCOUNT_sync_wait && part != SP_ACCOUNT_grad_sync;
}

static int take(struct sp_launch_parts *parts, const struct sp_image_facts *image,
		const struct sp_clock *clock, const struct sp_slot *slot)
{
	struct sp_piece piece = sp_piece_of(image, slot, sp_clock_realtime_ns(clock, slot->start),
					    sp_clock_realtime_ns(clock, slot->start + slot->ticks));
	struct sp_piece *list;

	if (!is_part(&piece) || piece.end_ns < piece.start_ns || parts->count >= PIECES_MAX)
		return 0;
	list = sp_cut_room(parts->pieces, parts->count, &parts->room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	parts->pieces = list;
	parts->count = sp_piece_put(list, parts->count, piece);
	return 0;
}

int sp_launch_parts_read(struct sp_launch_parts *parts, const struct sp_report *report,
			 const struct sp_trainer *trainer)
{
	const struct sp_index *index = &report->index;
	const struct sp_stream *stream = index->streams[trainer->stream];
	const struct sp_clock *clock = &index->hosts[index->images[stream->image].host].clock;
	struct sp_reader reader;
	struct sp_batch batch;
	int r = sp_reader_init(&reader);

	*parts = (struct sp_launch_parts){.steps = &trainer->steps};
	if (r == 0)
		sp_reader_open(&reader, index, stream);
	while (r == 0 && sp_reader_next(&reader, &batch))
		for (uint32_t i = 0; r == 0 && i < batch.n; i++)
			if (sp_cutter_wants(sp_commit_kind(batch.slots[i].commit)))
				r = take(parts, &report->facts.images[stream->image], clock,
					 &batch.slots[i]);
	sp_reader_finish(&reader);
	return r;
}

void sp_launch_parts_finish(struct sp_launch_parts *parts)
{
	free(parts->pieces);
	parts->pieces = NULL;
}

enum sp_account_part sp_launch_part(const struct sp_launch_parts *parts, int64_t at_ns)
{
	uint32_t low = SP_FIRST_LATER(parts->pieces, parts->count, end_ns, at_ns);

	if (low == parts->count || sp_steps_at(parts->steps, at_ns) == parts->steps->count)
		return SP_ACCOUNT_other;
	if (parts->pieces[low].start_ns <= at_ns)
		return sp_piece_part(parts->pieces[low].kind);
	return parts->pieces[low].kind == SP_PIECE_BACKWARD ? SP_ACCOUNT_forward : SP_ACCOUNT_other;
}
