/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trainer and a worker of its loader as made traces: one tick is one ns.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/judge.h"
#include "analyzer/workers/thread_role.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { LOADER = 1, ADAM, FETCH, PIPE };
enum { MAJOR = 3 }; /* page faults of a fetch */

enum { STEPS = 10, WAIT_NS = 1000, WORK_NS = 3000, PERIOD_NS = WAIT_NS + WORK_NS };

static char folder[64];
static struct sp_maker m;
static struct sp_load load;
static uint64_t parent_start_ns;

static void name(uint32_t id, const char *text)
{
	sp_maker_define(&m, SP_DEFINE_NAME, id, text, strlen(text));
}

static void span(uint32_t kind, uint32_t arg, uint64_t ns, int64_t value)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += ns;
	sp_maker_around(&m, kind, arg, start, value);
}

static void end(const char *file)
{
	sp_maker_put(&m, folder, file);
}

/*
 * A wait of which 880 ns are after the first bytes; 300 of these are waiting for more, and 50 the
 * sampler.
 */
static void receive(void)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += 100;
	span(SP_EV_read, PIPE, 20, 4);
	m.now_ticks += 80;
	span(SP_EV_poll, 0, 300, 1);
	span(SP_EV_read, PIPE, 10, 400);
	span(SP_EV_python_call, LOADER, 50, SP_PHASE_sampler);
	m.now_ticks = start + WAIT_NS;
	sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
}

/* Batches of validation that the training thread makes, which take far longer. */
static void validate(void)
{
	name(FETCH, "DataLoader fetch");
	for (int i = 0; i < 4; i++) {
		uint64_t start = m.now_ticks;

		span(SP_EV_python_call, FETCH, 100 * WAIT_NS, SP_PHASE_loader_fetch);
		sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
		m.now_ticks += 100;
	}
}

static void make_trainer(bool validates)
{
	sp_maker_init(&m, 10, 10, 0);
	parent_start_ns = m.header.image_start_ns;
	sp_maker_header(&m);
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	sp_maker_file(&m, PIPE, SP_FILE_PIPE, "pipe");
	for (int i = 0; i < STEPS; i++) {
		receive();
		m.now_ticks += WORK_NS - 500;
		span(SP_EV_torch_range, ADAM, 500, 0);
	}
	if (validates)
		validate();
	end("trainer.zst");
}

/*
 * A fetch ends with the trainer's wait: 600 ns before it read, 200 decode (150 inside), 300
 * collate.
 */
static void fetch(void)
{
	uint64_t start = m.now_ticks;

	span(SP_EV_read, 1, 600, 100);
	m.now_ticks += 250;
	span(SP_EV_jpeg_decode, 0, 200, 10);
	sp_maker_extra(&m, 150, (uint64_t)8 << 32 | 8, SP_DECODE_FINISHED);
	span(SP_EV_poll, 0, 100, 0);
	span(SP_EV_python_call, FETCH, 300, SP_PHASE_collate);
	m.now_ticks += 50;
	sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_loader_fetch);
	/* 1,500 ns, of which 700 are known to read or wait, and 20 are a page's */
	sp_maker_extra(&m, 770, (uint64_t)MAJOR << 32, (uint64_t)2 << 32 | 1);
}

static void begin_worker_of(uint32_t pid)
{
	sp_maker_init(&m, pid, pid, 0);
	m.header.ppid = 10;
	m.header.parent_start_ns = parent_start_ns;
	m.header.flags |= SP_HEADER_FORKED;
	sp_maker_header(&m);
	name(FETCH, "DataLoader fetch");
}

static void begin_worker(void)
{
	begin_worker_of(11);
}

static void make_worker(void)
{
	begin_worker();
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/a.jpg");
	m.now_ticks += PERIOD_NS - 500;
	for (int i = 1; i < STEPS; i++) {
		fetch();
		span(SP_EV_poll, 0, PERIOD_NS - 1500, 1);
	}
	end("worker.zst");
}

START_TEST(what_a_worker_does)
{
	const struct sp_worker *w;
	struct sp_workers workers;
	uint64_t whole = 0;

	sp_folder_make(folder);
	make_trainer(false);
	make_worker();
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_workers_read(&workers, &load.report.totals, &load.report.training), 0);
	ck_assert_uint_eq(workers.count, 1);
	w = &workers.list[0];
	ck_assert(!w->is_trainer);
	ck_assert_uint_eq(w->fetches.batches, STEPS - 1);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_file_read], (STEPS - 1) * 600);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_jpeg_decode], (STEPS - 1) * 150);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_collate], (STEPS - 1) * 300);
	/* 1500 - 770 - 700 = 30 are off the core, for two waits and one preemption */
	ck_assert_uint_eq(w->fetches.usage.calls, STEPS - 1);
	ck_assert_uint_eq(w->fetches.usage.cpu_ns, (STEPS - 1) * 770);
	ck_assert_uint_eq(w->fetches.usage.preempted_ns, (STEPS - 1) * 10);
	ck_assert_uint_eq(w->fetches.usage.blocked_ns, (STEPS - 1) * 20);
	ck_assert_uint_eq(w->fetches.usage.major_faults, (STEPS - 1) * MAJOR);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_mapped_read], (STEPS - 1) * 20);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_core_wait], (STEPS - 1) * 10);
	/* 250 + 50, and what of the decode's span is not libjpeg's */
	ck_assert_uint_eq(w->whole.ns[SP_WORK_transform], (STEPS - 1) * (300 + 50 - 20 - 10));
	ck_assert_uint_eq(w->whole.ns[SP_WORK_fetch_wait], (STEPS - 1) * 100);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_idle], (STEPS - 1) * (PERIOD_NS - 1500));
	for (int work = 0; work < SP_WORKS; work++)
		whole += w->whole.ns[work];
	ck_assert_uint_eq(whole, (uint64_t)(w->end_ns - w->begin_ns));
	/* The wait begins 500 ns after the fetch, which goes on to its end. */
	ck_assert_uint_eq(w->meanwhile.ns[SP_WORK_file_read], (STEPS - 1) * 100);
	ck_assert_uint_eq(w->meanwhile.ns[SP_WORK_collate], (STEPS - 1) * 300);
	ck_assert_uint_eq(w->meanwhile.ns[SP_WORK_idle], 0);
	ck_assert_uint_eq(w->fetches.locked_ns, (STEPS - 1) * 100);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_pipe_read], 0);
	ck_assert_uint_eq(workers.receive.bytes, STEPS * 404);
	ck_assert_uint_eq(workers.receive.batches, STEPS);
	ck_assert_int_eq(workers.receive.ns, STEPS * 530);
	ck_assert_uint_eq(workers.receive.sampler_ns, STEPS * 50);
	ck_assert_uint_eq(workers.receive.all_batches, STEPS);
	sp_workers_finish(&workers);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

/* A fetch of 1,000 ns: 100 unpack a sample, 300 decode PNG,
 * of which the library unpacks for 200. */
static void fetch_packed(void)
{
	uint64_t start = m.now_ticks, png;

	span(SP_EV_zstd_decompress, 0, 100, 4096);
	png = m.now_ticks += 50;
	m.now_ticks += 50;
	span(SP_EV_zstd_decompress, 0, 200, 4096);
	m.now_ticks += 50;
	sp_maker_around(&m, SP_EV_python_call, FETCH, png, SP_PHASE_decode_png);
	m.now_ticks = start + 1000;
	sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_loader_fetch);
}

START_TEST(a_decoder_unpacks_for_itself)
{
	struct sp_workers workers;
	struct sp_work_sums *whole;

	sp_folder_make(folder);
	make_trainer(false);
	begin_worker();
	for (int i = 0; i < STEPS; i++)
		fetch_packed();
	end("worker.zst");
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_workers_read(&workers, &load.report.totals, &load.report.training), 0);
	whole = &workers.list[0].whole;
	ck_assert_uint_eq(whole->ns[SP_WORK_decompress], STEPS * 100);
	ck_assert_uint_eq(whole->ns[SP_WORK_png_decode], STEPS * 300);
	ck_assert_uint_eq(whole->ns[SP_WORK_transform], STEPS * 600);
	sp_workers_finish(&workers);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

/* HDF5 reads for 100 and decompresses for 300 of its 500 ns; the label's file is read beside it,
 * for 100. A chunk has twice the bytes of a sample. */
static void fetch_hdf5(void)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += 50;
	span(SP_EV_pread, 1, 100, 1024);
	span(SP_EV_zlib_inflate, 0, 300, 8192);
	sp_maker_around(&m, SP_EV_H5Dread, 0, start, 4096);
	m.now_ticks += 50;
	sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_hdf5);
	span(SP_EV_pread, 2, 100, 8);
	sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_loader_fetch);
}

/* The trainer waits for a part of the fetches, and not for the same part of each call. */
static void ck_share(const struct sp_metrics *e, enum sp_metric_id id, double value)
{
	ck_assert(e->of[id].is_known);
	ck_assert_double_eq_tol(e->of[id].value, value, 0.05);
}

/* The work of HDF5 on a core is no reading of files. */
START_TEST(hdf5_reads_its_file_by_calls)
{
	static struct sp_verdict v;

	sp_folder_make(folder);
	make_trainer(false);
	begin_worker();
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/all.h5");
	sp_maker_file(&m, 2, SP_FILE_REGULAR, "/data/label");
	for (int i = 0; i < STEPS; i++)
		fetch_hdf5();
	end("worker.zst");
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_share(&v.metrics, SP_METRIC_hdf5_work_share, 5.0 / 6);
	ck_share(&v.metrics, SP_METRIC_hdf5_decompress_share, 3.0 / 5);
	ck_share(&v.metrics, SP_METRIC_hdf5_file_share, 1.0 / 5);
	ck_share(&v.metrics, SP_METRIC_read_work_share, 2.0 / 6);
	ck_share(&v.metrics, SP_METRIC_hdf5_amplification, 2);
	ck_assert_int_eq(v.id, SP_VERDICT_library);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

/* A worker that makes a batch between the trainer's waits, and waits while the trainer waits. */
static void make_idle_worker(uint32_t pid, const char *file)
{
	begin_worker_of(pid);
	for (int i = 0; i < STEPS; i++) {
		uint64_t start;

		span(SP_EV_poll, 0, WAIT_NS, 1);
		start = m.now_ticks;
		m.now_ticks += 500;
		sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_loader_fetch);
		m.now_ticks += WORK_NS - 500;
	}
	end(file);
}

/*
 * The trainer waits for a batch that is already made, so the wait says nothing about the making.
 * Workers that are busy meanwhile hand over late because of that.
 */
START_TEST(receiving_is_no_waiting_for_the_making)
{
	static struct sp_verdict v;
	bool is_idle = _i != 0;

	sp_folder_make(folder);
	make_trainer(false);
	if (is_idle)
		make_idle_worker(11, "worker.zst");
	else
		make_worker();
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_double_eq_tol(sp_metrics_value(&v.metrics, SP_METRIC_handover_ns), 530, 1e-6);
	ck_assert(v.metrics.of[SP_METRIC_handover_wait_share].is_known == is_idle);
	ck_assert((v.id == SP_VERDICT_handover) == is_idle);
	ck_assert(v.metrics.of[SP_METRIC_transform_work_share].is_known != is_idle);
	ck_assert(!v.doubts[SP_DOUBT_work_unseen]);
	if (is_idle)
		ck_assert_double_eq_tol(sp_metrics_value(&v.metrics, SP_METRIC_handover_wait_share),
					0.53, 1e-6);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

/* One worker of two makes the batch that is waited for: more batches ahead would help. */
START_TEST(one_makes_what_is_waited_for_and_the_other_is_idle)
{
	static struct sp_verdict v;

	sp_folder_make(folder);
	make_trainer(false);
	make_worker();
	make_idle_worker(12, "idle.zst");
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_double_lt(sp_metrics_value(&v.metrics, SP_METRIC_worker_idle_share), 0.6);
	ck_assert_double_ge(sp_metrics_value(&v.metrics, SP_METRIC_others_idle_share), 0.9);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

START_TEST(batches_of_validation_are_no_batches_of_steps)
{
	static struct sp_verdict v;

	sp_folder_make(folder);
	make_trainer(true);
	make_worker();
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_uint_eq(load.report.workers.count, 2);
	ck_assert_double_eq_tol(sp_metrics_value(&v.metrics, SP_METRIC_batch_work_ns), 1500, 100);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

enum { OWN_NS = 900, VALIDATIONS = 2, CHECKED = 4 };

static uint64_t validated_at[VALIDATIONS];

/* A step, whose batch the training thread makes itself or has at once. */
static void make_step(bool makes)
{
	uint64_t start = m.now_ticks;

	if (makes)
		span(SP_EV_python_call, FETCH, OWN_NS, SP_PHASE_loader_fetch);
	m.now_ticks = start + WAIT_NS;
	sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
	m.now_ticks += WORK_NS - 500;
	span(SP_EV_torch_range, ADAM, 500, 0);
}

/* Each of two epochs ends with a validation of slow batches. */
static void make_validating_trainer(bool makes)
{
	sp_maker_init(&m, 10, 10, 0);
	parent_start_ns = m.header.image_start_ns;
	sp_maker_header(&m);
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	name(FETCH, "DataLoader fetch");
	for (int i = 0; i < STEPS; i++) {
		make_step(makes);
		if (i % (STEPS / VALIDATIONS) != STEPS / VALIDATIONS - 1)
			continue;
		validated_at[i / (STEPS / VALIDATIONS)] = m.now_ticks;
		for (int batch = 0; batch < CHECKED; batch++) {
			uint64_t start = m.now_ticks;

			m.now_ticks += 100 * WAIT_NS;
			if (makes)
				sp_maker_around(&m, SP_EV_python_call, FETCH, start,
						SP_PHASE_loader_fetch);
			sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
			m.now_ticks += 100;
		}
	}
	end("trainer.zst");
}

/* A worker that stays, and is asked for batches of validation alone. */
static void make_validation_worker(void)
{
	begin_worker();
	for (int i = 0; i < VALIDATIONS; i++) {
		m.now_ticks = validated_at[i];
		for (int batch = 0; batch < CHECKED; batch++) {
			span(SP_EV_python_call, FETCH, 90 * WAIT_NS, SP_PHASE_loader_fetch);
			m.now_ticks += 10 * WAIT_NS;
		}
	}
	end("worker.zst");
}

START_TEST(a_thread_makes_batches_of_both)
{
	static struct sp_verdict v;

	sp_folder_make(folder);
	make_validating_trainer(true);
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_double_eq(sp_metrics_value(&v.metrics, SP_METRIC_batch_work_ns), OWN_NS);
	ck_assert_double_eq(sp_metrics_value(&v.metrics, SP_METRIC_workers_wanted), 1);
	ck_assert_double_eq_tol(sp_metrics_value(&v.metrics, SP_METRIC_first_made_share),
				0.9 * sp_metrics_value(&v.metrics, SP_METRIC_first_wait_share),
				1e-9);
	ck_assert_uint_eq(load.report.workers.list[0].fetches.batches,
			  STEPS + VALIDATIONS * CHECKED);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

/* The context switches of a fetch, as the recorder counts them from the end of a fetch inside. */
static void observe(uint64_t ready_ns)
{
	span(SP_EV_waits, 0, 0, 0);
	sp_maker_extra(&m, 0, 0, (int64_t)ready_ns);
}

/* The data set takes samples from a loader of its own: a queue of patches out of large images.
 * Without a core in the fetches inside: ready_ns of each, where that is observed, or blocked. */
static void make_nested_fetch(bool is_observed, uint64_t ready_ns)
{
	enum { INNER_NS = 300, OUTER_NS = 50, CORE_NS = 70, ONE_SWITCH = 1 };
	uint64_t start = m.now_ticks;

	for (int inner = 0; inner < 2; inner++) {
		uint64_t inner_start = m.now_ticks;

		m.now_ticks += INNER_NS;
		if (is_observed)
			observe(ready_ns);
		sp_maker_around(&m, SP_EV_python_call, FETCH, inner_start, SP_PHASE_loader_fetch);
		sp_maker_extra(&m, CORE_NS, 0, (uint64_t)ONE_SWITCH << 32);
	}
	m.now_ticks += OUTER_NS;
	if (is_observed)
		observe(0);
	sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_loader_fetch);
	sp_maker_extra(&m, 2 * CORE_NS + OUTER_NS, 0, (uint64_t)ONE_SWITCH << 33);
	sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
	m.now_ticks += WORK_NS - 500;
	span(SP_EV_torch_range, ADAM, 500, 0);
}

START_TEST(a_loader_inside_a_fetch)
{
	static struct sp_verdict v;
	const struct sp_worker *w;
	uint64_t ready_ns = _i == 2 ? 200 : 0;

	sp_folder_make(folder);
	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	name(LOADER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	name(FETCH, "DataLoader fetch");
	for (int i = 0; i < STEPS; i++)
		make_nested_fetch(_i > 0, ready_ns);
	end("trainer.zst");
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	w = &load.report.workers.list[0];
	ck_assert_uint_eq(w->fetches.batches, STEPS);
	ck_assert_uint_eq(w->waited.batches, STEPS);
	ck_assert_uint_eq(w->fetches.usage.wall_ns, STEPS * 650);
	ck_assert_double_eq(sp_metrics_value(&v.metrics, SP_METRIC_batch_work_ns), 650);
	ck_assert_uint_eq(w->fetches.usage.blocked_ns, STEPS * 2 * (230 - ready_ns));
	ck_assert_uint_eq(w->fetches.usage.preempted_ns, STEPS * 2 * ready_ns);
	ck_assert_uint_eq(w->whole.ns[SP_WORK_fetch_wait], STEPS * 2 * (230 - ready_ns));
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

START_TEST(a_worker_of_validation_that_stays)
{
	static struct sp_verdict v;

	sp_folder_make(folder);
	make_validating_trainer(false);
	make_validation_worker();
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_uint_eq(load.report.workers.count, 1);
	ck_assert_double_eq(sp_metrics_value(&v.metrics, SP_METRIC_workers), 0);
	ck_assert(!v.metrics.of[SP_METRIC_batch_work_ns].is_known);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

/* Each fetch of 3,000 ns waits for `locked_ns`; threads beside it take `beside_ns` of the cores. */
static void make_waiting_worker(uint32_t pid, uint64_t locked_ns, uint64_t beside_ns)
{
	struct sp_rusage_metadata usage = {.process_threads = 2};
	char file[32];

	sp_maker_init(&m, pid, pid, 0);
	m.header.ppid = 10;
	m.header.parent_start_ns = parent_start_ns;
	m.header.flags |= SP_HEADER_FORKED;
	sp_maker_header(&m);
	name(FETCH, "DataLoader fetch");
	for (int i = 0; i < STEPS; i++) {
		uint64_t start = m.now_ticks;

		span(SP_EV_sem_wait, 0, locked_ns, 0);
		m.now_ticks = start + 3000;
		sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_loader_fetch);
		usage.cpu_ns += 3000 - locked_ns;
		usage.process_cpu_ns += 3000 - locked_ns + beside_ns / 2;
		usage.process_ready_ns += beside_ns / 2;
	}
	sp_maker_define(&m, SP_DEFINE_RUSAGE, 0, &usage, sizeof(usage));
	snprintf(file, sizeof(file), "worker%u.zst", pid);
	end(file);
}

struct waiting {
	uint64_t locked_ns, beside_ns;
	uint32_t workers;
	enum sp_metric_id share; /* of the advice */
	double wait_work_share;
};

/* Two workers hold up each other for half of the time at most; a single one waits for others. */
static const struct waiting waitings[] = {
	{1500, 0, 2, SP_METRIC_fetch_contended_share, 0.5},
	{2700, 0, 2, SP_METRIC_fetch_awaited_share, 0.9},
	{1500, 0, 1, SP_METRIC_fetch_awaited_share, 0.5},
	{2700, 2700, 1, SP_METRIC_fetch_threads_share, 0},
	{2700, 9000, 2, SP_METRIC_fetch_threads_share, 0},
	{2700, 300, 1, SP_METRIC_fetch_awaited_share, 0.8},
};
#define WAITINGS (int)(sizeof(waitings) / sizeof(waitings[0]))

static const enum sp_metric_id fetch_waits[] = {SP_METRIC_fetch_contended_share,
						SP_METRIC_fetch_awaited_share,
						SP_METRIC_fetch_threads_share};

START_TEST(a_wait_for_its_own_threads_is_no_lock)
{
	const struct waiting *w = &waitings[_i];
	static struct sp_verdict v;

	sp_folder_make(folder);
	make_trainer(false);
	for (uint32_t pid = 11; pid < 11 + w->workers; pid++)
		make_waiting_worker(pid, w->locked_ns, w->beside_ns);
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_double_eq_tol(sp_metrics_value(&v.metrics, SP_METRIC_wait_work_share),
				w->wait_work_share, 0.07); /* the trainer waits in a part */
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(sp_metrics_value(&v.metrics, fetch_waits[i]) >= SP_FETCHES_LOCKED,
				 fetch_waits[i] == w->share);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

/* A process that the trainer started, and what it records. */
static void make_child(uint32_t pid, const char *label, bool has_loader, bool fetches)
{
	sp_maker_init(&m, pid, pid, 0);
	m.header.ppid = 10;
	m.header.parent_start_ns = parent_start_ns;
	m.header.flags |= SP_HEADER_FORKED;
	sp_maker_header(&m);
	name(FETCH, label);
	if (has_loader)
		name(LOADER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	for (int i = 0; i < STEPS; i++) {
		m.now_ticks += PERIOD_NS;
		span(SP_EV_python_call, FETCH, 900,
		     fetches ? SP_PHASE_loader_fetch : SP_PHASE_checkpoint_save);
	}
	end("child.zst");
}

static const struct {
	const char *label;
	bool has_loader, fetches;
	const char *role;
} children[] = {
	{"DataLoader fetch", false, true, "worker"},
	{"torch.save", false, false, "other"},
	{"DataLoader fetch", true, true, "other"}, /* an evaluator */
};

START_TEST(a_child_is_what_it_does)
{
	sp_folder_make(folder);
	make_trainer(false);
	make_child(11, children[_i].label, children[_i].has_loader, children[_i].fetches);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.run.index.stream_count, 2);
	ck_assert_str_eq(sp_role_of(&load.report.training, 1), children[_i].role);
	ck_assert_uint_eq(load.report.workers.count, strcmp(children[_i].role, "worker") == 0);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("workers");
	TCase *c = tcase_create("workers");

	tcase_add_test(c, what_a_worker_does);
	tcase_add_test(c, a_decoder_unpacks_for_itself);
	tcase_add_test(c, hdf5_reads_its_file_by_calls);
	tcase_add_loop_test(c, receiving_is_no_waiting_for_the_making, 0, 2);
	tcase_add_test(c, one_makes_what_is_waited_for_and_the_other_is_idle);
	tcase_add_test(c, batches_of_validation_are_no_batches_of_steps);
	tcase_add_test(c, a_thread_makes_batches_of_both);
	tcase_add_loop_test(c, a_loader_inside_a_fetch, 0, 3);
	tcase_add_test(c, a_worker_of_validation_that_stays);
	tcase_add_loop_test(c, a_wait_for_its_own_threads_is_no_lock, 0, WAITINGS);
	tcase_add_loop_test(c, a_child_is_what_it_does, 0, sizeof(children) / sizeof(*children));
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
