/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/process_tree.h"

#include <stdbool.h>

#include "analyzer/training/training.h"

#define SERVERS_MAX 3 /* between a trainer and its worker */

static bool is_child(const struct sp_process_image *child, const struct sp_process_image *parent)
{
	if (child->host != parent->host || child->ppid != parent->pid)
		return false;
	return !child->parent_start_ns || child->parent_start_ns == parent->start_ns;
}

uint32_t sp_trainer_process(const struct sp_training *training, uint32_t trainer)
{
	return training->run->index.streams[training->trainers[trainer].stream]->image;
}

/* The trainer of the image, or the trainer whose child the image is. */
static uint32_t trainer_beside(const struct sp_training *training, uint32_t image)
{
	const struct sp_process_image *images = training->run->index.images;
	uint32_t above = training->count;

	for (uint32_t t = 0; t < training->count; t++) {
		uint32_t its = sp_trainer_process(training, t);

		if (its == image)
			return t;
		if (above == training->count && is_child(&images[image], &images[its]))
			above = t;
	}
	return above;
}

/* image_count: the parent left no trace. */
static uint32_t parent_of(const struct sp_index *index, uint32_t image)
{
	uint32_t i = 0;

	while (i < index->image_count &&
	       (i == image || !is_child(&index->images[image], &index->images[i])))
		i++;
	return i;
}

uint32_t sp_trainer_above(const struct sp_training *training, uint32_t image)
{
	uint32_t t = training->count;

	for (int i = 0;
	     t == training->count && i <= SERVERS_MAX && image < training->run->index.image_count;
	     i++) {
		t = trainer_beside(training, image);
		if (t == training->count)
			image = parent_of(&training->run->index, image);
	}
	return t;
}
