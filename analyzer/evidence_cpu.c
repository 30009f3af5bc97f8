#include "analyzer/evidence_cpu.h"

#include "analyzer/report.h"

/* Of several processes, those alone whose first thread told all. */
struct use {
	double cpu_ns, ready_ns, life_ns; /* of the first thread */
	double process_cpu_ns, process_ready_ns;
	double wanted;	/* threads that ran or were ready, on average; of those that trained */
	double threads; /* most of any process */
	double batches; /* that they made */
};

static double life_ns(const struct sp_report *report, uint32_t stream)
{
	const struct sp_image *image = &report->index.images[report->index.streams[stream]->image];
	int64_t begin, end;

	sp_report_life(report, stream, &begin, &end);
	if (image->start_ns)
		begin = (int64_t)image->start_ns;
	return end > begin ? (double)(end - begin) : 0;
}

static void add_process(struct use *use, const struct sp_report *report, uint32_t stream,
			uint64_t batches)
{
	const struct sp_thread_usage *told = &report->facts.usages[stream];
	const struct sp_usage_facts *u = &told->facts;
	double life = life_ns(report, stream);

	if (!told->is_told || u->ready_ns == UINT64_MAX || u->process_ready_ns == UINT64_MAX ||
	    life <= 0)
		return;
	use->cpu_ns += (double)u->cpu_ns;
	use->ready_ns += (double)u->ready_ns;
	use->life_ns += life;
	use->process_cpu_ns += (double)u->process_cpu_ns;
	use->process_ready_ns += (double)u->process_ready_ns;
	use->wanted += (double)(u->process_cpu_ns + u->process_ready_ns) / life;
	use->threads = (double)u->process_threads > use->threads ? (double)u->process_threads
								 : use->threads;
	use->batches += (double)batches;
}

/* Processors that the process may keep busy; a part of one is one. 0: not told. */
static double cores_of(const struct sp_cpu_facts *cpus)
{
	double quota = ((double)cpus->quota_millicores + 999) / 1000;

	if (!cpus->allowed)
		return 0;
	return cpus->quota_millicores && quota < cpus->allowed ? (double)(uint32_t)quota
							       : cpus->allowed;
}

static void set_cores(struct sp_evidence *e, const struct sp_report *report)
{
	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t stream = report->training.trainers[t].stream;
		uint32_t image = report->index.streams[stream]->image;
		double cores = cores_of(&report->facts.images[image].cpus);

		if (cores > 0) {
			sp_evidence_set(e, SP_MEASURE_cores, cores);
			return;
		}
	}
}

/* The process's use counts from its exec: what steps are of its life is theirs. */
static void set_trainer_cpu(struct sp_evidence *e, const struct use *trainers)
{
	double step_ns = sp_evidence_value(e, SP_MEASURE_step_mean_ns);

	if (trainers->life_ns > 0)
		sp_evidence_set(e, SP_MEASURE_trainer_cpu_ns,
				trainers->process_cpu_ns * step_ns / trainers->life_ns);
}

/* Workers count for as long as they live: those of one epoch follow those of another. */
static void set_wanted(struct sp_evidence *e, const struct use *trainers, const struct use *workers,
		       uint32_t count)
{
	double span_ns = count ? trainers->life_ns / count : 0, wanted = trainers->wanted;

	if (span_ns <= 0 || !e->of[SP_MEASURE_cores].is_known)
		return;
	wanted += (workers->process_cpu_ns + workers->process_ready_ns) / span_ns;
	sp_evidence_ratio(e, SP_MEASURE_wanted_per_core, wanted,
			  sp_evidence_value(e, SP_MEASURE_cores));
	sp_evidence_set(e, SP_MEASURE_trainer_threads, trainers->threads);
}

void sp_evidence_cpu(struct sp_evidence *e, const struct sp_report *report)
{
	struct use trainers = {0}, workers = {0};

	set_cores(e, report);
	for (uint32_t t = 0; t < report->training.count; t++)
		add_process(&trainers, report, report->training.trainers[t].stream, 0);
	for (uint32_t i = 0; i < report->workers.count; i++)
		if (!report->workers.list[i].is_trainer)
			add_process(&workers, report, report->workers.list[i].stream,
				    report->workers.list[i].batches);
	sp_evidence_ratio(e, SP_MEASURE_contention_share, trainers.ready_ns, trainers.life_ns);
	sp_evidence_ratio(e, SP_MEASURE_batch_cpu_ns, workers.cpu_ns, workers.batches);
	sp_evidence_ratio(e, SP_MEASURE_batch_ready_ns, workers.ready_ns, workers.batches);
	set_trainer_cpu(e, &trainers);
	set_wanted(e, &trainers, &workers, report->training.count);
}
