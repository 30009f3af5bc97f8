#include "analyzer/collective.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/clock.h"
#include "analyzer/reader.h"
#include "analyzer/report.h"
#include "analyzer/step_cut.h"

#define ENDS_MAX (1u << 22) /* of one process; what comes after is not waited for */

struct finding {
	const struct sp_image_facts *image;
	const struct sp_clock *clock;
	const struct sp_steps *steps;
	struct sp_collective *last;
};

/* The step that is on at this instant, or NULL. Steps are in the order of time and do not overlap. */
static struct sp_collective *step_at(const struct finding *f, int64_t at_ns)
{
	uint32_t low = 0, high = f->steps->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->steps->steps[middle].end_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == f->steps->count || f->steps->steps[low].start_ns > at_ns)
		return NULL;
	return &f->last[low];
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

static int take_ends(struct sp_collective_ends *ends, const struct sp_image_facts *image,
		     const struct sp_clock *clock, const struct sp_batch *batch)
{
	for (uint32_t i = 0; i < batch->n && ends->count < ENDS_MAX; i++) {
		const struct sp_slot *slot = &batch->slots[i];
		int64_t *list;

		if (!is_collective(image, slot))
			continue;
		list = sp_cut_room(ends->at_ns, ends->count, &ends->room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		ends->at_ns = list;
		list[ends->count++] = sp_clock_realtime_ns(clock, slot->start + slot->ticks);
	}
	return 0;
}

static int compare_ends(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int sp_collective_ends_read(struct sp_collective_ends *ends, struct sp_reader *reader,
			    const struct sp_report *report, uint32_t image)
{
	const struct sp_index *index = &report->index;
	const struct sp_clock *clock = &index->hosts[index->images[image].host].clock;
	const struct sp_image_facts *facts = &report->facts.images[image];
	struct sp_batch batch;
	int r = 0;

	*ends = (struct sp_collective_ends){.at_ns = NULL};
	for (uint32_t i = 0; facts->has_collectives && i < index->stream_count; i++) {
		if (index->streams[i]->image != image)
			continue;
		sp_reader_open(reader, index, index->streams[i]);
		while (r == 0 && sp_reader_next(reader, &batch))
			r = take_ends(ends, facts, clock, &batch);
	}
	if (ends->count)
		qsort(ends->at_ns, ends->count, sizeof(*ends->at_ns), compare_ends);
	return r;
}

void sp_collective_ends_finish(struct sp_collective_ends *ends)
{
	free(ends->at_ns);
	*ends = (struct sp_collective_ends){.at_ns = NULL};
}

bool sp_collective_ended(const struct sp_collective_ends *ends, int64_t from_ns, int64_t to_ns)
{
	uint32_t low = 0, high = ends->count; /* the first that is later than from_ns */

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ends->at_ns[middle] <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ends->count && ends->at_ns[low] <= to_ns;
}
