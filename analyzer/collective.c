#include "analyzer/collective.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/clock.h"
#include "analyzer/reader.h"
#include "analyzer/report.h"
#include "analyzer/step_cut.h"

struct finding {
	const struct sp_image_facts *image;
	const struct sp_clock *clock;
	const struct sp_steps *steps;
	struct sp_collective *last;
};

/* Of the step that is on at this instant, or NULL. */
static struct sp_collective *step_at(const struct finding *f, int64_t at_ns)
{
	uint32_t i = sp_steps_at(f->steps, at_ns);

	return i < f->steps->count ? &f->last[i] : NULL;
}

static bool is_collective(const struct sp_image_facts *image, const struct sp_slot *slot)
{
	return sp_commit_kind(slot->commit) == SP_EV_torch_range &&
	       sp_image_label_use(image, sp_commit_arg(slot->commit)) == SP_LABEL_COLLECTIVE;
}

static void take(const struct finding *f, const struct sp_slot *slot)
{
	struct sp_collective one, *last;

	if (!is_collective(f->image, slot))
		return;
	one.start_ns = sp_clock_realtime_ns(f->clock, slot->start);
	one.end_ns = sp_clock_realtime_ns(f->clock, slot->start + slot->ticks);
	last = step_at(f, one.start_ns);
	if (last && one.end_ns > last->end_ns)
		*last = one;
}

int sp_collectives_read(const struct sp_report *report, uint32_t trainer,
			struct sp_collective **ret)
{
	const struct sp_index *index = &report->index;
	const struct sp_trainer *t = &report->training.trainers[trainer];
	uint32_t image = index->streams[t->stream]->image;
	struct finding f = {
		.image = &report->facts.images[image],
		.clock = &index->hosts[index->images[image].host].clock,
		.steps = &t->steps,
		.last = calloc(t->steps.count + 1u, sizeof(*f.last)),
	};
	struct sp_reader reader;
	int r = sp_reader_init(&reader);

	*ret = f.last;
	for (uint32_t i = 0; r == 0 && f.last && i < index->stream_count; i++) {
		struct sp_batch batch;

		if (index->streams[i]->image != image)
			continue;
		sp_reader_open(&reader, index, index->streams[i]);
		while (sp_reader_next(&reader, &batch))
			for (uint32_t k = 0; k < batch.n; k++)
				take(&f, &batch.slots[k]);
	}
	sp_reader_finish(&reader);
	return r == 0 && !f.last ? -ENOMEM : r;
}

int sp_collective_calls_read(struct sp_process_calls *calls, struct sp_reader *reader,
			     const struct sp_report *report, uint32_t image)
{
	*calls = (struct sp_process_calls){.list = NULL};
	if (!report->facts.images[image].has_collectives)
		return 0;
	return sp_process_calls_read(calls, reader, report, image, 0, is_collective);
}

bool sp_collective_ended(const struct sp_process_calls *calls, int64_t from_ns, int64_t to_ns)
{
	uint32_t next = sp_process_calls_after(calls, from_ns);

	return next < calls->count && calls->list[next].end_ns <= to_ns;
}
