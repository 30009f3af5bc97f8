#include "analyzer/evidence_input.h"

#include <math.h>

#include "analyzer/report.h"

/* Each is a process with its own memory, however little of a core it takes. */
#define WORKERS_A_CORE_MOST 4
#define ROUNDING 0.001 /* of a worker, that is none */

/* What the workers did, added up. */
struct input {
	struct sp_work_sums whole, meanwhile;
	struct sp_call_usage usage; /* of fetches */
	uint64_t locked_ns, received_ns; /* in fetches */
	uint64_t batches;
	uint32_t lives;	  /* of workers */
	uint32_t at_once; /* of them, the most of any trainer */
	bool on_trainer;  /* batches are made on the training thread, all of them */
};

static double sum_of(const struct sp_work_sums *sums, const enum sp_work *works, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)sums->ns[works[i]];
	return sum;
}

#define SUM_OF(sums, ...)                                                                          \
	sum_of((sums), (const enum sp_work[]){__VA_ARGS__},                                        \
	       sizeof((const enum sp_work[]){__VA_ARGS__}) / sizeof(enum sp_work))

#define DECODING                                                                                   \
	SP_WORK_jpeg_decode, SP_WORK_png_decode, SP_WORK_webp_decode, SP_WORK_image_decode,        \
		SP_WORK_video_decode
#define MAKING SP_WORK_transform, SP_WORK_collate, SP_WORK_decompress
#define READING SP_WORK_file_read, SP_WORK_hdf5, SP_WORK_mapped_read

/* Of one trainer's. */
static uint32_t alive_at(const struct sp_workers *workers, uint32_t trainer, int64_t at_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < workers->count; i++) {
		const struct sp_worker *w = &workers->list[i];

		n += !w->is_trainer && w->trainer == trainer && w->begin_ns <= at_ns && at_ns < w->end_ns;
	}
	return n;
}

/* Each worker counts at the middle of its life: those of the epoch before may end late. */
static void count_workers(struct input *in, const struct sp_workers *workers)
{
	in->on_trainer = workers->count > 0;
	for (uint32_t i = 0; i < workers->count; i++) {
		const struct sp_worker *w = &workers->list[i];
		uint32_t alive;

		in->batches += w->batches;
		sp_call_usage_merge(&in->usage, &w->usage);
		in->locked_ns += w->locked_ns;
		in->received_ns += w->received_ns;
		for (int work = 0; work < SP_WORKS; work++) {
			in->whole.ns[work] += w->whole.ns[work];
			in->meanwhile.ns[work] += w->meanwhile.ns[work];
		}
		if (w->is_trainer)
			continue;
		in->on_trainer = false;
		in->lives++;
		alive = alive_at(workers, w->trainer, w->begin_ns + (w->end_ns - w->begin_ns) / 2);
		in->at_once = alive > in->at_once ? alive : in->at_once;
	}
}

/* Of `transform`: what is not waiting in it. */
static double own_code_share(const struct input *in)
{
	double all = (double)in->whole.ns[SP_WORK_transform];
	double waits = (double)(in->locked_ns + in->received_ns + in->usage.blocked_ns);

	return waits < all ? 1 - waits / all : 0;
}

static bool waits_for_making(const struct sp_evidence *e)
{
	return sp_evidence_value(e, SP_MEASURE_handover_wait_share) < SP_HANDOVER_MOST;
}

/*
 * What batches were made of while the trainer waited, for them and not for the handing over; a trainer that
 * makes its own never idles.
 */
static void set_work(struct sp_evidence *e, const struct input *in)
{
	const struct sp_work_sums *m = &in->meanwhile;
	double made = SUM_OF(m, DECODING) + SUM_OF(m, READING, MAKING);
	double transform = (double)m->ns[SP_WORK_transform] * own_code_share(in);

	sp_evidence_ratio(e, SP_MEASURE_decode_work_share, SUM_OF(m, DECODING), made);
	sp_evidence_ratio(e, SP_MEASURE_read_work_share, SUM_OF(m, READING), made);
	sp_evidence_ratio(e, SP_MEASURE_transform_work_share, transform, made);
	sp_evidence_ratio(e, SP_MEASURE_decompress_work_share, (double)m->ns[SP_WORK_decompress], made);
	sp_evidence_ratio(e, SP_MEASURE_collate_work_share, (double)m->ns[SP_WORK_collate], made);
}

static void set_decoding(struct sp_evidence *e, const struct input *in,
			 const struct sp_report *report)
{
	const struct sp_work_sums *w = &in->whole;
	double decoding = SUM_OF(w, DECODING), reading = SUM_OF(w, READING);
	const struct sp_sums *jpeg = &report->stages[SP_STAGE_jpeg_decode];

	sp_evidence_ratio(e, SP_MEASURE_jpeg_decode_share, (double)w->ns[SP_WORK_jpeg_decode],
			  decoding);
	sp_evidence_ratio(e, SP_MEASURE_png_decode_share, (double)w->ns[SP_WORK_png_decode], decoding);
	sp_evidence_ratio(e, SP_MEASURE_video_decode_share, (double)w->ns[SP_WORK_video_decode],
			  decoding);
	sp_evidence_ratio(e, SP_MEASURE_hdf5_read_share, (double)w->ns[SP_WORK_hdf5], reading);
	sp_evidence_ratio(e, SP_MEASURE_mapped_read_share, (double)w->ns[SP_WORK_mapped_read],
			  reading);
	sp_evidence_ratio(e, SP_MEASURE_image_pixels, (double)report->pixels,
			  (double)(jpeg->calls - jpeg->aborted));
}

/* Files of the threads that make batches alone. */
static void set_shares(struct sp_evidence *e, const struct input *in)
{
	const struct sp_work_sums *w = &in->whole;
	double made = SUM_OF(w, DECODING) + SUM_OF(w, READING, MAKING);

	if (waits_for_making(e)) {
		sp_evidence_ratio(e, SP_MEASURE_fetch_locked_share, (double)in->locked_ns, made);
		sp_evidence_ratio(e, SP_MEASURE_fetch_received_share, (double)in->received_ns, made);
	}
	sp_evidence_ratio(e, SP_MEASURE_decode_share, SUM_OF(w, DECODING), made);
	sp_evidence_ratio(e, SP_MEASURE_read_share, SUM_OF(w, READING), made);
}

static void set_files(struct sp_evidence *e, const struct input *in, const struct sp_report *report)
{
	struct sp_sums read = {0}, opened = {0}, hdf5 = {0};

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_sums *stages =
			report->streams[report->workers.list[i].stream].stages;

		sp_sums_merge(&read, &stages[SP_STAGE_file_read]);
		sp_sums_merge(&opened, &stages[SP_STAGE_file_open]);
		sp_sums_merge(&hdf5, &stages[SP_STAGE_hdf5_open]);
	}
	sp_evidence_ratio(e, SP_MEASURE_read_bytes_mean, (double)read.bytes, (double)read.calls);
	sp_evidence_ratio(e, SP_MEASURE_read_bytes_per_s, (double)read.bytes * 1e9,
			  (double)read.total_ns);
	sp_evidence_ratio(e, SP_MEASURE_opens_per_batch, (double)opened.calls, (double)in->batches);
	if (hdf5.calls)
		sp_evidence_ratio(e, SP_MEASURE_hdf5_opens_per_batch, (double)hdf5.calls,
				  (double)in->batches);
}

/* What of a batch's work needs a core; where the kernel's counts are not there, all but reading. */
static double batch_cpu_ns(const struct sp_evidence *e, double batch_ns)
{
	if (e->of[SP_MEASURE_batch_cpu_ns].is_known)
		return sp_evidence_value(e, SP_MEASURE_batch_cpu_ns);
	return batch_ns * (1 - sp_evidence_value(e, SP_MEASURE_read_share));
}

/* From batch to batch, the shortest time that the cores can bear, with any number of workers; 0: not known. */
static double cores_batch_ns(const struct sp_evidence *e, double batch_ns, bool on_trainer)
{
	double cores = sp_evidence_value(e, SP_MEASURE_cores);
	double cpu_ns = sp_evidence_value(e, SP_MEASURE_trainer_cpu_ns) / sp_batches_a_step(e);

	if (cores <= 0)
		return 0;
	return (cpu_ns + (on_trainer ? 0 : batch_cpu_ns(e, batch_ns))) / cores;
}

static double workers_for(double batch_ns, double period_ns)
{
	return ceil(batch_ns / period_ns * (1 - ROUNDING));
}

/*
 * As many as make batches no slower than the trainer without its waits takes them, and no more than make them
 * as fast as the cores can bear: what of a batch is blocked (storage, sleep) needs none.
 */
static void set_wanted(struct sp_evidence *e, const struct input *in)
{
	double work = SUM_OF(&in->whole, DECODING) +
		      SUM_OF(&in->whole, READING, MAKING);
	double a_step = sp_batches_a_step(e);
	double busy_ns = (sp_evidence_value(e, SP_MEASURE_step_mean_ns) -
			  sp_evidence_value(e, SP_MEASURE_wait_mean_ns)) / a_step +
			 sp_evidence_value(e, SP_MEASURE_handover_ns);
	double cores = sp_evidence_value(e, SP_MEASURE_cores), batch_ns, enough, borne, wanted;

	if (!in->batches || busy_ns <= 0 || work <= 0)
		return;
	batch_ns = work / (double)in->batches;
	enough = floor(batch_ns / busy_ns) + 1;
	borne = workers_for(batch_ns, fmax(busy_ns, cores_batch_ns(e, batch_ns, in->on_trainer)));
	wanted = fmin(enough, borne > 1 ? borne : 1);
	if (cores > 0)
		wanted = fmin(wanted, cores * WORKERS_A_CORE_MOST);
	sp_evidence_set(e, SP_MEASURE_batch_work_ns, batch_ns);
	sp_evidence_set(e, SP_MEASURE_workers_wanted, wanted);
	/* Who waits for something else is not made faster by more of them. */
	if (cores <= 0 || in->on_trainer ||
	    sp_evidence_value(e, SP_MEASURE_worker_idle_share) >= SP_WORKERS_IDLE ||
	    sp_evidence_value(e, SP_MEASURE_fetch_locked_share) >= SP_FETCHES_LOCKED)
		return;
	sp_evidence_set(e, SP_MEASURE_spare_workers, wanted - in->at_once);
	if (wanted <= in->at_once)
		sp_evidence_set(e, SP_MEASURE_missing_workers, enough - in->at_once);
}

/* Of fetches alone, where they tell it; else what the workers' threads tell of their lives. */
static void set_fetch_use(struct sp_evidence *e, const struct input *in)
{
	const struct sp_call_usage *u = &in->usage;

	sp_evidence_ratio(e, SP_MEASURE_batch_cpu_ns, (double)u->cpu_ns, (double)u->calls);
	if (waits_for_making(e))
		sp_evidence_ratio(e, SP_MEASURE_fetch_blocked_share, (double)u->blocked_ns,
				  (double)u->wall_ns);
	sp_evidence_ratio(e, SP_MEASURE_batch_ready_ns, (double)u->preempted_ns, (double)u->calls);
}

static void set_batches(struct sp_evidence *e, const struct sp_report *report)
{
	uint64_t batches = 0, steps = 0;

	for (uint32_t t = 0; t < report->training.count; t++) {
		if (!report->training.trainers[t].steps.is_fed)
			continue;
		batches += report->training.trainers[t].steps.wait_count;
		steps += report->training.trainers[t].steps.count;
	}
	sp_evidence_ratio(e, SP_MEASURE_batches_per_step, (double)batches, (double)steps);
}

static void set_idle(struct sp_evidence *e, const struct input *in)
{
	const struct sp_work_sums *m = &in->meanwhile;
	double made = SUM_OF(m, DECODING) + SUM_OF(m, READING, MAKING);
	double idle = (double)m->ns[SP_WORK_idle];

	if (!in->on_trainer)
		sp_evidence_ratio(e, SP_MEASURE_worker_idle_share, idle, made + idle);
}

/*
 * How much of the trainer's waits a worker's thread that hands over could have run: a fetch that computes in Python
 * holds the interpreter's lock, and then it is the fetch that is slow and not the handing over.
 */
static double answering_share(const struct sp_evidence *e, const struct input *in)
{
	const struct sp_call_usage *u = &in->usage;
	double fetching = 1 - sp_evidence_value(e, SP_MEASURE_worker_idle_share);
	double running = u->wall_ns ? (double)(u->cpu_ns + u->preempted_ns) / (double)u->wall_ns : 1;

	return 1 - fetching * running;
}

static void set_handover(struct sp_evidence *e, const struct input *in, const struct sp_handover *h)
{
	if (in->on_trainer || !h->batches || h->ns < 0)
		return;
	sp_evidence_set(e, SP_MEASURE_handover_ns, (double)h->ns / (double)h->batches);
	sp_evidence_set(e, SP_MEASURE_handover_bytes, (double)h->bytes / (double)h->batches);
	sp_evidence_set(e, SP_MEASURE_answering_share, answering_share(e, in));
	if (sp_evidence_value(e, SP_MEASURE_answering_share) >= SP_ANSWERING_LEAST)
		sp_evidence_ratio(e, SP_MEASURE_handover_wait_share, (double)h->ns,
				  (double)h->wait_ns);
}

void sp_evidence_input(struct sp_evidence *e, const struct sp_report *report)
{
	struct input in = {.batches = 0};

	count_workers(&in, &report->workers);
	if (!report->workers.count)
		return;
	sp_evidence_set(e, SP_MEASURE_workers, in.at_once);
	if (in.at_once)
		sp_evidence_ratio(e, SP_MEASURE_worker_lives, in.lives,
				  in.at_once * report->training.count);
	set_batches(e, report);
	set_idle(e, &in);
	set_handover(e, &in, &report->workers.handover);
	if (waits_for_making(e))
		set_work(e, &in);
	set_shares(e, &in);
	set_decoding(e, &in, report);
	set_files(e, &in, report);
	set_fetch_use(e, &in);
	set_wanted(e, &in);
}
