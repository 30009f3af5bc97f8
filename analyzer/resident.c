#include "analyzer/resident.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/clock.h"
#include "analyzer/lineage.h"
#include "analyzer/report.h"

/* A step's sample is taken right behind the call that ends it. */
#define BEHIND_NS 10000000

_Static_assert(SP_RESIDENT_MAX % 2 == 0, "halved");

static void halve(struct sp_resident *r)
{
	for (uint32_t i = 0; i < r->count / 2; i++)
		r->list[i] = r->list[2 * i];
	r->count /= 2;
	r->every *= 2;
}

static bool make_room(struct sp_resident *r)
{
	uint32_t room = r->room ? 2 * r->room : 64;
	struct sp_resident_sample *list;

	if (r->count < r->room)
		return true;
	list = realloc(r->list, room * sizeof(*list));
	if (!list)
		return false;
	r->list = list;
	r->room = room;
	return true;
}

void sp_resident_put(struct sp_resident *r, uint64_t ticks, uint64_t bytes)
{
	r->max_bytes = bytes > r->max_bytes ? bytes : r->max_bytes;
	if (!r->every)
		r->every = r->passed = 1;
	else if (++r->passed < r->every)
		return;
	if (r->count == SP_RESIDENT_MAX)
		halve(r);
	if (!make_room(r))
		return;
	r->list[r->count++] = (struct sp_resident_sample){ticks, bytes};
	r->passed = 0;
}

void sp_resident_finish(struct sp_resident *r)
{
	free(r->list);
	*r = (struct sp_resident){.list = NULL};
}

const struct sp_resident_sample *sp_resident_at(const struct sp_report *report, uint32_t stream, int64_t at_ns)
{
	const struct sp_index *index = &report->index;
	const struct sp_clock *clock =
		&index->hosts[index->images[index->streams[stream]->image].host].clock;
	const struct sp_resident *r = &report->streams[stream].resident;
	uint32_t low = 0, high = r->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sp_clock_realtime_ns(clock, r->list[middle].ticks) <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &r->list[low - 1] : NULL;
}

bool sp_resident_in(const struct sp_report *report, uint32_t stream, int64_t start_ns, int64_t end_ns,
		    uint64_t *ret_bytes)
{
	const struct sp_resident_sample *sample = sp_resident_at(report, stream, end_ns + BEHIND_NS);
	int64_t begun_ns, ended_ns;

	sp_report_life(report, stream, &begun_ns, &ended_ns);
	if (!sample || ended_ns < start_ns)
		return false;
	*ret_bytes = sample->bytes;
	return true;
}

static bool is_below(const struct sp_report *report, uint32_t image, uint32_t trainer_image)
{
	uint32_t t = sp_trainer_above(report, image);

	return t < report->training.count && sp_trainer_image(report, t) == trainer_image;
}

/* All of one kind: of the process itself, or of its children. */
static void find(struct sp_resident_streams *s, const struct sp_report *report, uint32_t trainer_image,
		 bool own)
{
	const struct sp_index *index = &report->index;

	for (uint32_t i = 0; i < index->stream_count; i++) {
		uint32_t image = index->streams[i]->image;
		bool is_own = image == trainer_image;

		if (!report->streams[i].resident.count || is_own != own)
			continue;
		if (is_own || is_below(report, image, trainer_image))
			s->list[s->count++] = i;
	}
}

int sp_resident_find(struct sp_resident_streams *s, const struct sp_report *report,
		     uint32_t trainer_image)
{
	*s = (struct sp_resident_streams){.list = calloc(report->index.stream_count + 1u, sizeof(*s->list))};
	if (!s->list)
		return -ENOMEM;
	find(s, report, trainer_image, true);
	s->own = s->count;
	find(s, report, trainer_image, false);
	return 0;
}

void sp_resident_streams_finish(struct sp_resident_streams *s)
{
	free(s->list);
	s->list = NULL;
}
