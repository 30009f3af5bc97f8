#include "analyzer/lineage.h"

#include <stdbool.h>

#include "analyzer/report.h"

#define SERVERS_MAX 3 /* between a trainer and its worker */

static bool is_child(const struct sp_image *child, const struct sp_image *parent)
{
	if (child->host != parent->host || child->ppid != parent->pid)
		return false;
	return !child->parent_start_ns || child->parent_start_ns == parent->start_ns;
}

uint32_t sp_trainer_image(const struct sp_report *report, uint32_t trainer)
{
	return report->index.streams[report->training.trainers[trainer].stream]->image;
}

/* The trainer of the image, or the one that it is a child of. */
static uint32_t trainer_beside(const struct sp_report *report, uint32_t image)
{
	const struct sp_image *images = report->index.images;
	uint32_t above = report->training.count;

	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t its = sp_trainer_image(report, t);

		if (its == image)
			return t;
		if (above == report->training.count && is_child(&images[image], &images[its]))
			above = t;
	}
	return above;
}

/* image_count: its parent left no trace. */
static uint32_t parent_of(const struct sp_index *index, uint32_t image)
{
	uint32_t i = 0;

	while (i < index->image_count && (i == image || !is_child(&index->images[image], &index->images[i])))
		i++;
	return i;
}

uint32_t sp_trainer_above(const struct sp_report *report, uint32_t image)
{
	uint32_t t = report->training.count;

	for (int i = 0; t == report->training.count && i <= SERVERS_MAX && image < report->index.image_count; i++) {
		t = trainer_beside(report, image);
		if (t == report->training.count)
			image = parent_of(&report->index, image);
	}
	return t;
}
