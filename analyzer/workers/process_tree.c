/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/process_tree.h"

#include "analyzer/training/training.h"

#define SERVERS_MAX 3 /* between a trainer and its worker */

uint32_t sp_trainer_process(const struct sp_training *training, uint32_t trainer)
{
	return training->run->index.streams[training->trainers[trainer].stream]->image;
}

/* The trainer of the image, or the trainer whose child the image is. */
static uint32_t trainer_beside(const struct sp_training *training, uint32_t image)
{
	const struct sp_process_image *images = training->run->index.images;
	const struct sp_trainer *own = sp_training_of(training, image);
	uint32_t t = 0;

	if (own)
		return (uint32_t)(own - training->trainers);
	while (t < training->count &&
	       !sp_index_is_child(&images[image], &images[sp_trainer_process(training, t)]))
		t++;
	return t;
}

uint32_t sp_trainer_above(const struct sp_training *training, uint32_t image)
{
	uint32_t t = training->count;

	for (int i = 0;
	     t == training->count && i <= SERVERS_MAX && image < training->run->index.image_count;
	     i++) {
		t = trainer_beside(training, image);
		if (t == training->count)
			image = sp_index_parent(&training->run->index, image);
	}
	return t;
}
