#include "analyzer/evidence_cpu.h"

#include "analyzer/clock.h"
#include "analyzer/report.h"

/* What a thread and its process used, and in which time. */
struct told {
	struct sp_usage_facts used;
	int64_t begin_ns, end_ns;
};

/* Of several processes, those alone whose first thread told all. */
struct use {
	double cpu_ns, ready_ns, life_ns; /* of the first thread */
	double process_cpu_ns;
	double wanted;	  /* threads that ran or were ready, on average; of those that trained */
	double demand_ns; /* of cores, while their trainer trained */
	double threads;	  /* most of any process */
	double batches;	  /* that they made */
};

static uint64_t difference(uint64_t before, uint64_t after)
{
	if (before == UINT64_MAX || after == UINT64_MAX)
		return UINT64_MAX;
	return after > before ? after - before : 0;
}

/* From the first step that told its use to the last: what a start costs is not of training. */
static bool told_by_steps(struct told *ret, const struct sp_report *report, uint32_t stream)
{
	const struct sp_thread_usage *t = &report->facts.usages[stream];
	const struct sp_usage_facts *first = &t->first.usage, *last = &t->last.usage;
	uint32_t host = report->index.images[report->index.streams[stream]->image].host;
	const struct sp_clock *clock = &report->index.hosts[host].clock;

	if (!t->first.at || t->last.at <= t->first.at)
		return false;
	ret->used = *last; /* process_threads is no count of time */
	ret->used.cpu_ns = difference(first->cpu_ns, last->cpu_ns);
	ret->used.ready_ns = difference(first->ready_ns, last->ready_ns);
	ret->used.process_cpu_ns = difference(first->process_cpu_ns, last->process_cpu_ns);
	ret->used.process_ready_ns = difference(first->process_ready_ns, last->process_ready_ns);
	ret->begin_ns = sp_clock_realtime_ns(clock, t->first.at);
	ret->end_ns = sp_clock_realtime_ns(clock, t->last.at);
	return true;
}

static bool told_at_end(struct told *ret, const struct sp_report *report, uint32_t stream)
{
	const struct sp_image *image = &report->index.images[report->index.streams[stream]->image];

	sp_report_life(report, stream, &ret->begin_ns, &ret->end_ns);
	if (image->start_ns)
		ret->begin_ns = (int64_t)image->start_ns;
	ret->used = report->facts.usages[stream].facts;
	return report->facts.usages[stream].is_told;
}

static bool told_of(struct told *ret, const struct sp_report *report, uint32_t stream, bool trains)
{
	bool is_told = (trains && told_by_steps(ret, report, stream)) || told_at_end(ret, report, stream);

	return is_told && ret->used.ready_ns != UINT64_MAX && ret->used.process_ready_ns != UINT64_MAX &&
	       ret->end_ns > ret->begin_ns;
}

/* The part of its life that lies between two instants. */
static double part_between(const struct told *told, int64_t begin_ns, int64_t end_ns)
{
	int64_t from = begin_ns > told->begin_ns ? begin_ns : told->begin_ns;
	int64_t to = end_ns < told->end_ns ? end_ns : told->end_ns;

	return to > from ? (double)(to - from) / (double)(told->end_ns - told->begin_ns) : 0;
}

static void add_process(struct use *use, const struct told *told, double part, uint64_t batches)
{
	const struct sp_usage_facts *u = &told->used;
	double life_ns = (double)(told->end_ns - told->begin_ns);
	double demand_ns = (double)u->process_cpu_ns + (double)u->process_ready_ns;

	use->cpu_ns += (double)u->cpu_ns;
	use->ready_ns += (double)u->ready_ns;
	use->life_ns += life_ns;
	use->process_cpu_ns += (double)u->process_cpu_ns;
	use->wanted += demand_ns / life_ns;
	use->demand_ns += demand_ns * part;
	use->threads = (double)u->process_threads > use->threads ? (double)u->process_threads
								 : use->threads;
	use->batches += (double)batches;
}

static void add_trainers(struct use *trainers, const struct sp_report *report)
{
	struct told told;

	for (uint32_t t = 0; t < report->training.count; t++)
		if (told_of(&told, report, report->training.trainers[t].stream, true))
			add_process(trainers, &told, 1, 0);
}

static void add_workers(struct use *workers, const struct sp_report *report)
{
	struct told told, training;

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];
		uint32_t trainer = report->training.trainers[w->trainer].stream;

		if (w->is_trainer || !told_of(&told, report, w->stream, false))
			continue;
		if (!told_of(&training, report, trainer, true))
			training = told;
		add_process(workers, &told,
			    part_between(&told, training.begin_ns, training.end_ns), w->batches);
	}
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

/* Where no step told its use it counts from the process's exec: what steps are of its life is theirs. */
static void set_trainer_cpu(struct sp_evidence *e, const struct use *trainers)
{
	double step_ns = sp_evidence_value(e, SP_MEASURE_step_mean_ns);

	if (trainers->life_ns > 0)
		sp_evidence_set(e, SP_MEASURE_trainer_cpu_ns,
				trainers->process_cpu_ns * step_ns / trainers->life_ns);
}

/* Workers count while the trainer trains: those of one epoch follow those of another. */
static void set_wanted(struct sp_evidence *e, const struct use *trainers, const struct use *workers,
		       uint32_t count)
{
	double span_ns = count ? trainers->life_ns / count : 0, wanted = trainers->wanted;

	if (span_ns <= 0 || !e->of[SP_MEASURE_cores].is_known)
		return;
	wanted += workers->demand_ns / span_ns;
	sp_evidence_ratio(e, SP_MEASURE_wanted_per_core, wanted,
			  sp_evidence_value(e, SP_MEASURE_cores));
	sp_evidence_set(e, SP_MEASURE_trainer_threads, trainers->threads);
}

/* Neither on a core nor ready for one, and in nothing that is known to wait. */
static void set_blocked(struct sp_evidence *e, const struct use *trainers)
{
	static const enum sp_measure_id waits[] = {
		SP_MEASURE_loader_wait_share, SP_MEASURE_first_batch_share, SP_MEASURE_sync_share,
		SP_MEASURE_copy_share, SP_MEASURE_communication_share, SP_MEASURE_checkpoint_share,
		SP_MEASURE_validation_share, SP_MEASURE_write_share,
	};
	double share;

	if (trainers->life_ns <= 0)
		return;
	share = 1 - (trainers->cpu_ns + trainers->ready_ns) / trainers->life_ns;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		share -= sp_evidence_value(e, waits[i]);
	sp_evidence_set(e, SP_MEASURE_blocked_share, share > 0 ? share : 0);
}

void sp_evidence_cpu(struct sp_evidence *e, const struct sp_report *report)
{
	struct use trainers = {0}, workers = {0};

	set_cores(e, report);
	add_trainers(&trainers, report);
	add_workers(&workers, report);
	sp_evidence_ratio(e, SP_MEASURE_contention_share, trainers.ready_ns, trainers.life_ns);
	sp_evidence_ratio(e, SP_MEASURE_coreless_share, trainers.ready_ns,
			  trainers.ready_ns + trainers.cpu_ns);
	sp_evidence_ratio(e, SP_MEASURE_batch_cpu_ns, workers.cpu_ns, workers.batches);
	sp_evidence_ratio(e, SP_MEASURE_batch_ready_ns, workers.ready_ns, workers.batches);
	set_trainer_cpu(e, &trainers);
	set_blocked(e, &trainers);
	set_wanted(e, &trainers, &workers, report->training.count);
}
