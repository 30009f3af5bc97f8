#include "analyzer/gpu_process.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/report.h"
#include "analyzer/step_cut.h"

static const struct sp_steps no_steps;

static void add_gpu(struct sp_gpu_sums *sum, const struct sp_steps *steps)
{
	for (uint32_t i = 0; steps->gpu.steps && i < steps->count; i++)
		sp_gpu_sums_merge(sum, &steps->gpu.steps[i]);
}

static struct sp_gpu_process *find(const struct sp_gpu_processes *p, uint32_t image)
{
	for (uint32_t i = p->count; i > 0; i--)
		if (p->list[i - 1].image == image)
			return &p->list[i - 1];
	return NULL;
}

static int add(struct sp_gpu_processes *p, const struct sp_report *report, uint32_t image,
	       const struct sp_trainer *trainer)
{
	struct sp_gpu_process *list = sp_cut_room(p->list, p->count, &p->room, sizeof(*list)), *one;
	int r;

	if (!list)
		return -ENOMEM;
	p->list = list;
	one = &list[p->count];
	one->image = image;
	one->trainer = trainer;
	one->gpu = (struct sp_gpu_sums){.spans = 0};
	r = sp_gpu_calls_read(&one->calls, report, image, trainer ? &trainer->steps : &no_steps);
	p->count += r == 0;
	return r;
}

static int add_trainer(struct sp_gpu_processes *p, const struct sp_report *report, const struct sp_trainer *trainer)
{
	uint32_t image = report->index.streams[trainer->stream]->image;
	int r = find(p, image) ? 0 : add(p, report, image, trainer);

	if (r == 0)
		add_gpu(&find(p, image)->gpu, &trainer->steps);
	return r;
}

int sp_gpu_processes_read(struct sp_gpu_processes *p, const struct sp_report *report)
{
	const struct sp_training *training = &report->training;
	const struct sp_index *index = &report->index;
	int r = 0;

	*p = (struct sp_gpu_processes){.count = 0};
	for (uint32_t t = 0; r == 0 && t < training->count; t++)
		r = add_trainer(p, report, &training->trainers[t]);
	for (uint32_t i = 0; r == 0 && i < index->stream_count; i++) {
		uint32_t image = index->streams[i]->image;

		if (sp_report_selects(report, i) && sp_gpu_calls_in(report->streams[i].stages) && !find(p, image))
			r = add(p, report, image, NULL);
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
