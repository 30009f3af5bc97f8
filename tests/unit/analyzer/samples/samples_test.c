/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trainer, a worker of its loader and the sampler's stream as made traces: one tick is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/samples/library_spread.h"
#include "analyzer/samples/samples.h"
#include "analyzer/samples/sampled_line.h"
#include "analyzer/training/training_account.h"
#include "analyzer/verdict/advice_line.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/verdict_text.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { LOADER = 1, ADAM, FETCH, PIPE };
enum { STEPS = 10, WAIT_NS = 20000, WORK_NS = 60000 };
static int trainer_steps = STEPS;
enum { TRAINER = 10, WORKER = 11, SAMPLER = 12 };

static char folder[64];
static struct sp_maker m, sampler;
static struct sp_load load;
static uint64_t parent_start_ns;
static uint32_t looks = 1;		  /* at each place */
static uint32_t library;		  /* of samples that found a thread running */
static uint32_t asks_one_in = 1, running; /* of these, how many ask for it, and their number */

static void name(uint32_t id, const char *text)
{
	sp_maker_define(&m, SP_DEFINE_NAME, id, text, strlen(text));
}

/* Returns the middle. */
static uint64_t span(uint32_t kind, uint32_t arg, uint64_t ns, int64_t value)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += ns;
	sp_maker_around(&m, kind, arg, start, value);
	return start + ns / 2;
}

static bool samples_loop; /* between the batch and the optimizer, too */

static void begin_sampler(void)
{
	sp_maker_init(&sampler, SAMPLER, SAMPLER, 0);
	sampler.header.flags |= SP_HEADER_SAMPLER;
	sp_maker_header(&sampler);
}

static void define_frame(uint32_t id, uint32_t line, const char *text)
{
	struct sp_python_frame_metadata metadata = {.line = line, .first_line = 1};
	uint8_t blob[256];

	memcpy(blob, &metadata, sizeof(metadata));
	memcpy(blob + sizeof(metadata), text, strlen(text));
	sp_maker_define(&sampler, SP_DEFINE_PYTHON_FRAME, id, blob,
			sizeof(metadata) + strlen(text));
}

static void define_stack(uint32_t id, uint32_t innermost, uint32_t outermost)
{
	uint32_t frames[2] = {innermost, outermost};

	sp_maker_define(&sampler, SP_DEFINE_PYTHON_STACK, id, frames, sizeof(frames));
}

static void sample(uint32_t pid, uint64_t at, char state)
{
	struct sp_python_sample sample = {.at = at,
					  .pid = pid,
					  .tid = pid,
					  .stack = 1,
					  .samples = 1,
					  .span_us = 10000,
					  .state = (uint32_t)state};

	for (uint32_t i = 0; i < looks; i++) {
		sample.object = state == 'R' && running++ % asks_one_in == 0 ? library : 0;
		sp_maker_define(&sampler, SP_DEFINE_SAMPLES, 0, &sample, sizeof(sample));
	}
}

static void end_sampler(void)
{
	struct sp_sampler_metadata counts = {.rate = 100, .ticks = 1, .samples = 1};

	sp_maker_define(&sampler, SP_DEFINE_SAMPLER, 0, &counts, sizeof(counts));
	sp_maker_put(&sampler, folder, "sampler.zst");
}

/* A sample in each part of each step: the wait for a batch, in a read, and the work. */
static void make_trainer(void)
{
	sp_maker_init(&m, TRAINER, TRAINER, 0);
	parent_start_ns = m.header.image_start_ns;
	sp_maker_header(&m);
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	sp_maker_file(&m, PIPE, SP_FILE_PIPE, "pipe");
	for (int i = 0; i < trainer_steps; i++) {
		uint64_t start = m.now_ticks;

		sample(TRAINER, start + 50, 'S'); /* before the read */
		m.now_ticks += 100;
		sample(TRAINER, span(SP_EV_read, PIPE, 1000, 404), 'S');
		m.now_ticks = start + WAIT_NS;
		sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
		if (samples_loop)
			sample(TRAINER, m.now_ticks + 500, 'R');
		m.now_ticks += WORK_NS - 5000;
		sample(TRAINER, span(SP_EV_torch_range, ADAM, 5000, 0), 'R');
	}
	sp_maker_put(&m, folder, "trainer.zst");
}

/* A sample in each sort of a worker's work. */
static void fetch(void)
{
	uint64_t start = m.now_ticks;

	sample(WORKER, span(SP_EV_read, 1, 6000, 100), 'D');
	m.now_ticks += 2500;
	sample(WORKER, m.now_ticks - 500, 'R');
	sample(WORKER, span(SP_EV_jpeg_decode, 0, 2000, 10), 'R');
	sp_maker_extra(&m, 1500, (uint64_t)8 << 32 | 8, SP_DECODE_FINISHED);
	sample(WORKER, span(SP_EV_python_call, FETCH, 1000, SP_PHASE_transform), 'R');
	sample(WORKER, span(SP_EV_python_call, FETCH, 3000, SP_PHASE_collate), 'R');
	m.now_ticks += 500;
	sp_maker_around(&m, SP_EV_python_call, FETCH, start, SP_PHASE_loader_fetch);
	sp_maker_extra(&m, 9000, 0, 0);
}

static void begin_worker(void)
{
	sp_maker_init(&m, WORKER, WORKER, 0);
	m.header.ppid = TRAINER;
	m.header.parent_start_ns = parent_start_ns;
	m.header.flags |= SP_HEADER_FORKED;
	sp_maker_header(&m);
	name(FETCH, "fetch");
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/a.jpg");
}

static void make_worker(void)
{
	begin_worker();
	for (int i = 0; i < STEPS; i++) {
		fetch();
		sample(WORKER, span(SP_EV_poll, 0, WAIT_NS + WORK_NS - 15000, 1), 'S');
	}
	sp_maker_put(&m, folder, "worker.zst");
}

static uint64_t samples_of(const struct sp_samples *samples, const char *phase, const char *call)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < samples->table.count; i++) {
		const struct sp_sample_sums *sums = &samples->table.sums[i];
		size_t bytes;
		const char *text = sp_string_table_text(&samples->texts, sums->call, &bytes);
		bool is_call = sums->call ? bytes == strlen(call) + 1 &&
						    memcmp(text + 1, call, bytes - 1) == 0
					  : !*call;

		if (is_call && strcmp(sp_sample_phase_name(sums->phase), phase) == 0)
			sum += sums->samples;
	}
	return sum;
}

static void load_all(void)
{
	sp_load_one(&load, folder);
	ck_assert(load.report.samples.is_known);
}

static void finish_all(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

/* load is called by main in each Python stack. */
static void begin_job(void)
{
	sp_folder_make(folder);
	begin_sampler();
	define_frame(1, 20, "/a/train.py\tload");
	define_frame(2, 30, "/a/train.py\tmain");
	define_stack(1, 1, 2);
}

static void load_job(void)
{
	make_trainer();
	make_worker();
	end_sampler();
	load_all();
}

START_TEST(a_sample_has_the_phase_and_the_call_of_its_instant)
{
	const struct sp_samples *samples = &load.report.samples;

	begin_job();
	load_job();
	ck_assert_uint_eq(samples->samples, 9 * STEPS);
	ck_assert_uint_eq(samples->unfit, 0);
	ck_assert_uint_eq(samples_of(samples, "worker_fetch", "read"), STEPS);
	ck_assert_uint_eq(samples_of(samples, "worker_fetch", ""), STEPS);
	ck_assert_uint_eq(samples_of(samples, "worker_decode", "jpeg_decode"), STEPS);
	ck_assert_uint_eq(samples_of(samples, "worker_transform", ""), STEPS);
	ck_assert_uint_eq(samples_of(samples, "worker_collate", ""), STEPS);
	ck_assert_uint_eq(samples_of(samples, "worker_idle", "poll"), STEPS);
	ck_assert_uint_eq(samples_of(samples, "loader_wait", "read"), STEPS);
	ck_assert_uint_eq(samples_of(samples, "loader_wait", ""), STEPS);
	ck_assert_uint_eq(samples_of(samples, "optimizer", ""), STEPS);
	finish_all();
}
END_TEST

/* A frozen teacher, called without gradients between the batch and the student: the account has its
 * time as forward, and so have the samples in it. */
static void make_distillation(void)
{
	sp_maker_init(&m, TRAINER, TRAINER, 0);
	parent_start_ns = m.header.image_start_ns;
	sp_maker_header(&m);
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
		sample(TRAINER, span(SP_EV_python_call, 0, WORK_NS, SP_PHASE_forward_no_grad), 'R');
		sample(TRAINER, span(SP_EV_python_call, 0, 5000, SP_PHASE_forward), 'R');
		m.now_ticks += 3000;
		sample(TRAINER, m.now_ticks - 1000, 'R');
		sample(TRAINER, span(SP_EV_python_call, 0, 9000, SP_PHASE_backward), 'R');
		span(SP_EV_torch_range, ADAM, 5000, 0);
	}
	sp_maker_put(&m, folder, "trainer.zst");
}

START_TEST(a_sample_has_the_row_of_the_account)
{
	const struct sp_samples *samples = &load.report.samples;
	struct sp_account sum;

	begin_job();
	make_distillation();
	end_sampler();
	load_all();
	sum = sp_training_account(&load.report.training);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_evaluation], 0);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_forward], STEPS * (WORK_NS + 5000));
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_loss], STEPS * 3000);
	ck_assert_uint_eq(samples_of(samples, "evaluation", ""), 0);
	ck_assert_uint_eq(samples_of(samples, "forward", ""), 2 * STEPS);
	ck_assert_uint_eq(samples_of(samples, "loss", ""), STEPS);
	ck_assert_uint_eq(samples_of(samples, "backward", ""), STEPS);
	finish_all();
}
END_TEST

/* The last look may be after the wait. */
START_TEST(looks_at_a_waiting_thread_are_of_the_wait)
{
	const struct sp_samples *samples = &load.report.samples;
	struct sp_python_sample sample = {.pid = WORKER,
					  .tid = WORKER,
					  .samples = 8,
					  .span_us = 40,
					  .state = 'S'};

	sp_folder_make(folder);
	begin_sampler();
	make_trainer();
	begin_worker();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_poll, 0, WAIT_NS + WORK_NS - 15000, 1);
		sample.at = m.now_ticks + 3000;
		sp_maker_define(&sampler, SP_DEFINE_SAMPLES, 0, &sample, sizeof(sample));
		fetch();
	}
	sp_maker_put(&m, folder, "worker.zst");
	end_sampler();
	load_all();
	ck_assert_uint_eq(samples_of(samples, "worker_idle", "poll"), 8 * STEPS);
	finish_all();
}
END_TEST

/* Rows: a call's own time is its row's, and no longer its caller's. */
START_TEST(time_in_a_call_is_the_calls_own)
{
	char *text;

	begin_job();
	load_job();
	text = sp_load_print(&load, "functions", SP_FORMAT_CSV);
	ck_assert_ptr_nonnull(strstr(text, "\"loader_wait\",\"read\",,,10,100000000,100000000,"
					   "100000000,"));
	ck_assert_ptr_nonnull(strstr(text, "\"loader_wait\",\"load\",\"/a/"
					   "train.py\",1,10,100000000,200000000,"));
	ck_assert_ptr_nonnull(strstr(text, "\"loader_wait\",\"main\",\"/a/"
					   "train.py\",1,0,0,200000000,"));
	ck_assert_ptr_null(strstr(text, "worker_idle")); /* it waits, and nothing waits for it */
	free(text);
	finish_all();
}
END_TEST

/* The code that ran inside of a function has a library, which a waiting thread has not. */
START_TEST(native_code_has_its_library)
{
	const struct sp_view_options options = {.limit = UINT32_MAX,
						.function_rows = SP_ROWS_LIBRARY};
	char *text;

	begin_job();
	define_frame(3, 0, "libz.so.1\t");
	library = 3;
	load_job();
	library = 0;
	text = sp_load_print(&load, "functions", SP_FORMAT_CSV);
	ck_assert_ptr_nonnull(strstr(text, "\"worker_collate\",\"load\",\"/a/train.py\",1,10,"
					   "100000000,100000000,0,0.125000,\"libz.so.1\",1."
					   "000000\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"loader_wait\",\"load\",\"/a/train.py\",1,10,"
					   "100000000,200000000,100000000,0.125000,,\n"));
	free(text);
	text = sp_load_print_with(&load, "functions", SP_FORMAT_CSV, &options);
	ck_assert_ptr_nonnull(strstr(text, "\"worker_fetch\",,,,10,100000000,100000000,0,"
					   "0.125000,\"libz.so.1\",1.000000\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"loader_wait\",,,,20,200000000,200000000,200000000,"
					   "0.250000,\"(waiting)\",\n"));
	free(text);
	finish_all();
}
END_TEST

static void load_asked(uint32_t one_in)
{
	looks = 10;
	asks_one_in = one_in;
	begin_job();
	define_frame(3, 0, "libz.so.1\t");
	library = 3;
	load_job();
	library = 0;
	looks = asks_one_in = 1;
}

static char *libraries_of(uint32_t one_in)
{
	const struct sp_view_options options = {.limit = UINT32_MAX,
						.function_rows = SP_ROWS_LIBRARY};
	char *text;

	load_asked(one_in);
	text = sp_load_print_with(&load, "functions", SP_FORMAT_CSV, &options);
	finish_all();
	return text;
}

/* Each phase of the worker has 100 looks at a running thread. */
START_TEST(looks_that_asked_stand_for_the_others)
{
	char *text = libraries_of(5);

	ck_assert_ptr_nonnull(strstr(text, "\"worker_collate\",,,,20,1000000000,1000000000,0,"
					   "0.125000,\"libz.so.1\",1.000000\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"(waiting)\""));
	ck_assert_ptr_null(strstr(text, "\"(not known)\""));
	free(text);
	text = libraries_of(50);
	ck_assert_ptr_nonnull(strstr(text, "\"worker_collate\",,,,98,980000000,980000000,0,"
					   "0.122500,\"(not known)\",\n"));
	free(text);
}
END_TEST

/* The time of the worker's collating whose library is known. */
static uint64_t spread_ns(uint32_t one_in)
{
	struct sp_sample_table spread;
	uint64_t ns = 0, all_ns = 0, before_ns = 0;

	load_asked(one_in);
	ck_assert_int_eq(sp_library_spread(&spread, &load.report.samples), 0);
	for (uint32_t i = 0; i < spread.count; i++) {
		all_ns += spread.sums[i].ns;
		if (spread.sums[i].phase == SP_SAMPLE_COLLATE && spread.sums[i].object)
			ns += spread.sums[i].ns;
	}
	for (uint32_t i = 0; i < load.report.samples.table.count; i++)
		before_ns += load.report.samples.table.sums[i].ns;
	ck_assert_uint_eq(all_ns, before_ns);
	free(spread.sums);
	finish_all();
	return ns;
}

/* 20 of 100 looks asked, or two. */
START_TEST(stacks_have_the_libraries_of_looks_that_asked)
{
	ck_assert_uint_eq(spread_ns(5), 1000000000);
	ck_assert_uint_eq(spread_ns(50), 20000000);
}
END_TEST

/* A job whose one Python stack is this; ten looks at each sample. */
static void begin_stack(const char *innermost, const char *own)
{
	sp_folder_make(folder);
	begin_sampler();
	define_frame(1, 20, innermost);
	define_frame(2, 88, own);
	define_stack(1, 1, 2);
	looks = 10;
}

/* As if the advice were given. */
static void tell_line(struct sp_verdict *v, enum sp_advice_id advice, enum sp_sampled_part part)
{
	ck_assert_int_eq(sp_verdict_make(v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_int_eq(sp_sampled_line_find(&v->lines[part], &load.report.samples, part), 0);
	v->names_line[advice] = true;
}

/* A batch has five samples: one is in a read, one decodes and one collates. */
START_TEST(the_advice_names_the_function_and_its_caller)
{
	struct sp_verdict *v = calloc(1, sizeof(*v));
	char text[2048];

	begin_stack("/usr/lib/python3/site-packages/PIL/Image.py\tresize", "/home/me/job/"
									   "dataset.py\tload");
	make_trainer();
	make_worker();
	looks = 1;
	end_sampler();
	load_all();
	tell_line(v, SP_ADVICE_transform, SP_SAMPLED_own_code);
	ck_assert_uint_eq(v->lines[SP_SAMPLED_own_code].samples, 5 * STEPS * 10);
	ck_assert_double_eq(v->lines[SP_SAMPLED_own_code].share, 0.4);
	sp_advice_text(v, SP_ADVICE_transform, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, " 40% of making batches is load (job/dataset.py:88), "
					   "100% of that in resize (PIL/Image.py:1)."));
	sp_sampled_line_text(&v->lines[SP_SAMPLED_own_code], false, text);
	ck_assert_str_eq(text, "40% of making batches is load (job/dataset.py:88)");
	sp_advice_text(v, SP_ADVICE_collate, text, sizeof(text));
	ck_assert_ptr_null(strstr(text, "resize"));
	free(v);
	finish_all();
}
END_TEST

/* A line of the program's own, whatever it calls. */
START_TEST(the_advice_names_the_line_of_the_loop)
{
	struct sp_verdict *v = calloc(1, sizeof(*v));
	char text[2048];

	begin_stack("/usr/lib/python3.11/json/encoder.py\tencode", "/home/me/job/train.py\tlog");
	samples_loop = true;
	make_trainer();
	looks = 1;
	samples_loop = false;
	end_sampler();
	load_all();
	tell_line(v, SP_ADVICE_loop_names, SP_SAMPLED_loop);
	ck_assert_uint_eq(v->lines[SP_SAMPLED_loop].samples, STEPS * 10);
	ck_assert_double_eq(v->lines[SP_SAMPLED_loop].share, 1);
	sp_advice_text(v, SP_ADVICE_loop_names, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, " 100% of the loop's own code is log "
					   "(job/train.py:88)"));
	ck_assert_ptr_nonnull(strstr(text, "Run this line every N steps"));
	free(v);
	finish_all();
}
END_TEST

/* Fewer than 30, all in one function: no share, and nothing of what it calls. */
START_TEST(few_samples_name_a_function_with_most_of_the_time)
{
	struct sp_sampled_line top;
	char text[SP_LINE_TEXT_BYTES];

	begin_stack("/usr/lib/python3/site-packages/PIL/Image.py\tresize", "/home/me/job/"
									   "train.py\tlog");
	samples_loop = true;
	looks = 1;
	make_trainer();
	samples_loop = false;
	end_sampler();
	load_all();
	ck_assert_int_eq(sp_sampled_line_find(&top, &load.report.samples, SP_SAMPLED_loop), 0);
	ck_assert_uint_eq(top.samples, STEPS);
	sp_sampled_line_text(&top, true, text);
	ck_assert_str_eq(text, "most of the loop's own code is log (job/train.py:88)");
	finish_all();
}
END_TEST

START_TEST(few_samples_name_no_function)
{
	struct sp_sampled_line top;

	begin_job();
	trainer_steps = 3; /* of two samples */
	make_trainer();
	trainer_steps = STEPS;
	end_sampler();
	load_all();
	ck_assert_int_eq(sp_sampled_line_find(&top, &load.report.samples, SP_SAMPLED_batches), 0);
	ck_assert_uint_eq(top.samples, 0);
	finish_all();
}
END_TEST

static void define_bytes(enum sp_define what, uint32_t id, size_t bytes, uint64_t seed)
{
	uint8_t blob[4096];

	for (size_t i = 0; i < bytes; i++)
		blob[i] = (uint8_t)(sp_draw(&seed) >> 32);
	sp_maker_define(&sampler, what, id, blob, bytes);
}

static void sample_of(uint32_t stack, uint32_t samples, uint32_t span_us, uint32_t state,
		      uint64_t at)
{
	struct sp_python_sample sample = {.at = at,
					  .pid = 99,
					  .tid = 98,
					  .stack = stack,
					  .samples = samples,
					  .span_us = span_us,
					  .state = state};

	sp_maker_define(&sampler, SP_DEFINE_SAMPLES, 0, &sample, sizeof(sample));
}

/* Samples count, whatever their stacks lead to; nothing else is made of what makes no sense. */
START_TEST(senseless_definitions)
{
	const struct sp_samples *samples = &load.report.samples;
	static const uint32_t ids[] = {0,	  1, 7, SP_SAMPLE_IDS_MAX - 1, SP_SAMPLE_IDS_MAX,
				       UINT32_MAX};
	uint32_t cycle[SP_SAMPLE_DEPTH_MAX + 1] = {0}, count = 0;
	char *text;

	sp_folder_make(folder);
	begin_sampler();
	for (uint32_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		sp_maker_define(&sampler, SP_DEFINE_PYTHON_FRAME, ids[i], "abc", 3);
		define_frame(ids[i], UINT32_MAX, i % 2 ? "\t" : "no tab \xFF\x1B[2J");
		sp_maker_define(&sampler, SP_DEFINE_PYTHON_STACK, ids[i], ids, 4 * i + i % 3);
		sp_maker_define(&sampler, SP_DEFINE_PYTHON_STACK, ids[i] + 1, cycle, sizeof(cycle));
	}
	for (uint32_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		sample_of(ids[i], 1, UINT32_MAX, 'R', UINT64_MAX);
		sample_of(ids[i], 1, 0, 0xFFFFFFFF, 0);
		sample_of(ids[i], 0, 1, 'R', 0);
		count += 2;
	}
	sp_maker_define(&sampler, SP_DEFINE_SAMPLES, 0, ids, 0);
	sp_maker_define(&sampler, SP_DEFINE_SAMPLES, 0, ids, sizeof(ids));
	sp_maker_define(&sampler, SP_DEFINE_SAMPLER, 0, ids, sizeof(ids));
	sp_maker_put(&sampler, folder, "sampler.zst");
	looks = 0;
	make_trainer();
	looks = 1;
	load_all();
	ck_assert_uint_eq(samples->samples, count);
	for (uint32_t i = 0; i < samples->table.count; i++)
		ck_assert_uint_lt(samples->table.sums[i].stack, samples->stack_count);
	for (uint32_t i = 0; i < samples->number_count; i++)
		ck_assert_uint_lt(samples->frame_numbers[i], samples->frame_count);
	text = sp_load_print(&load, "functions", SP_FORMAT_JSON);
	ck_assert_ptr_null(strchr(text, '\x1B'));
	free(text);
	finish_all();
}
END_TEST

START_TEST(random_definitions)
{
	uint64_t seed = (uint64_t)_i + 1;

	sp_folder_make(folder);
	begin_sampler();
	for (int i = 0; i < 200; i++)
		define_bytes((enum sp_define)(SP_DEFINE_PYTHON_FRAME + sp_draw(&seed) % 4),
			     (uint32_t)sp_draw(&seed) % 20, sp_draw(&seed) % 400, sp_draw(&seed));
	sp_maker_put(&sampler, folder, "sampler.zst");
	looks = 0;
	make_trainer();
	looks = 1;
	load_all();
	for (uint32_t i = 0; i < load.report.samples.table.count; i++)
		ck_assert_uint_lt(load.report.samples.table.sums[i].stack,
				  load.report.samples.stack_count);
	free(sp_load_print(&load, "functions", SP_FORMAT_TABLE));
	finish_all();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("samples");
	TCase *c = tcase_create("samples");

	tcase_add_test(c, a_sample_has_the_phase_and_the_call_of_its_instant);
	tcase_add_test(c, a_sample_has_the_row_of_the_account);
	tcase_add_test(c, looks_at_a_waiting_thread_are_of_the_wait);
	tcase_add_test(c, time_in_a_call_is_the_calls_own);
	tcase_add_test(c, native_code_has_its_library);
	tcase_add_test(c, looks_that_asked_stand_for_the_others);
	tcase_add_test(c, stacks_have_the_libraries_of_looks_that_asked);
	tcase_add_test(c, the_advice_names_the_function_and_its_caller);
	tcase_add_test(c, the_advice_names_the_line_of_the_loop);
	tcase_add_test(c, few_samples_name_a_function_with_most_of_the_time);
	tcase_add_test(c, few_samples_name_no_function);
	tcase_add_test(c, senseless_definitions);
	tcase_add_loop_test(c, random_definitions, 0, 20);
	suite_add_tcase(s, c);
	return sp_suite_run(s);
}
