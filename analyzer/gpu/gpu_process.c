/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/gpu_process.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/add_up.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"
#include "analyzer/base/grow.h"

static void add_gpu(struct sp_gpu_sums *sum, const struct sp_trainer *trainer)
{
	for (uint32_t i = 0; trainer->gpu.steps && i < trainer->steps.count; i++)
		SP_ADD_UP(sum, &trainer->gpu.steps[i]);
}

static struct sp_gpu_process *find(const struct sp_gpu_processes *p, uint32_t image)
{
	for (uint32_t i = p->count; i > 0; i--)
		if (p->list[i - 1].image == image)
			return &p->list[i - 1];
	return NULL;
}

static int add(struct sp_gpu_processes *p, const struct sp_run *run, uint32_t image,
	       const struct sp_trainer *trainer)
{
	struct sp_gpu_process *list = sp_list_grow(p->list, p->count, &p->room, sizeof(*list)),
			      *one;
	int r;

	if (!list)
		return -ENOMEM;
	p->list = list;
	one = &list[p->count];
	one->image = image;
	one->trainer = trainer;
	one->gpu = (struct sp_gpu_sums){.spans = 0};
	r = sp_gpu_calls_read(&one->calls, run, image, trainer);
	p->count += r == 0;
	return r;
}

static int add_trainer(struct sp_gpu_processes *p, const struct sp_run *run,
		       const struct sp_trainer *trainer)
{
	uint32_t image = run->index.streams[trainer->stream]->image;
	int r = find(p, image) ? 0 : add(p, run, image, trainer);

	if (r == 0)
		add_gpu(&find(p, image)->gpu, trainer);
	return r;
}

int sp_gpu_processes_read(struct sp_gpu_processes *p, const struct sp_totals *totals,
			  const struct sp_training *training)
{
	const struct sp_run *run = training->run;
	const struct sp_index *index = &run->index;
	int r = 0;

	*p = (struct sp_gpu_processes){.count = 0};
	for (uint32_t t = 0; r == 0 && t < training->count; t++)
		r = add_trainer(p, run, &training->trainers[t]);
	for (uint32_t i = 0; r == 0 && i < index->stream_count; i++) {
		uint32_t image = index->streams[i]->image;

		if (sp_run_selects(run, i) && sp_stages_have_cuda(totals->streams[i].stages) &&
		    !find(p, image))
			r = add(p, run, image, NULL);
	}
	return r;
}

void sp_gpu_processes_finish(struct sp_gpu_processes *p)
{
	while (p->count > 0)
		sp_gpu_calls_finish(&p->list[--p->count].calls);
	free(p->list);
	p->list = NULL;
}
