#include "analyzer/saving.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/clock.h"
#include "analyzer/reader.h"
#include "analyzer/report.h"
#include "analyzer/step_cut.h"

#define SAVINGS_MAX (1u << 20) /* of one process; later ones are not waited for */

static bool is_saving(const struct sp_slot *slot)
{
	return sp_commit_kind(slot->commit) == SP_EV_python_call && slot->value == SP_PART_checkpoint_save;
}

static int take(struct sp_savings *savings, const struct sp_clock *clock, const struct sp_batch *batch)
{
	for (uint32_t i = 0; i < batch->n && savings->count < SAVINGS_MAX; i++) {
		const struct sp_slot *slot = &batch->slots[i];
		struct sp_saving *list;

		if (!is_saving(slot))
			continue;
		list = sp_cut_room(savings->list, savings->count, &savings->room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		savings->list = list;
		list[savings->count++] = (struct sp_saving){
			sp_clock_realtime_ns(clock, slot->start),
			sp_clock_realtime_ns(clock, slot->start + slot->ticks),
		};
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct sp_saving *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

int sp_savings_read(struct sp_savings *savings, struct sp_reader *reader, const struct sp_report *report,
		    uint32_t stream)
{
	const struct sp_index *index = &report->index;
	const struct sp_stream *own = index->streams[stream];
	const struct sp_clock *clock = &index->hosts[index->images[own->image].host].clock;
	struct sp_batch batch;
	int r = 0;

	*savings = (struct sp_savings){.list = NULL};
	for (uint32_t i = 0; i < index->stream_count; i++) {
		if (index->streams[i]->image != own->image || index->streams[i]->tid == own->tid)
			continue;
		sp_reader_open(reader, index, index->streams[i]);
		while (r == 0 && sp_reader_next(reader, &batch))
			r = take(savings, clock, &batch);
	}
	if (savings->count)
		qsort(savings->list, savings->count, sizeof(*savings->list), compare);
	return r;
}

void sp_savings_finish(struct sp_savings *savings)
{
	free(savings->list);
	*savings = (struct sp_savings){.list = NULL};
}

bool sp_savings_held(const struct sp_savings *savings, int64_t from_ns, int64_t to_ns)
{
	uint32_t low = 0, high = savings->count; /* the first that ends later than from_ns */

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (savings->list[middle].end_ns <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < savings->count && savings->list[low].end_ns <= to_ns; low++) {
		const struct sp_saving *s = &savings->list[low];
		int64_t since_ns = s->start_ns > from_ns ? s->start_ns : from_ns;

		if (s->end_ns - since_ns >= (to_ns - from_ns) / 2)
			return true;
	}
	return false;
}
