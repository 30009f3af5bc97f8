/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrote the golden runs of format version 2: make_golden run FOLDER, make_golden ranks FOLDER. A
 * golden run stays as it is; this shows what is in it.
 *
 * run.zst:
 * One trainer that ended cleanly (pid 100: main thread and a helper), one loader worker that was
 * killed in a read (pid 101) and lost 7 events, one JPEG given up, one failed open, one coverage
 * line and one note.
 *
 * gpu.zst (make_golden gpu FOLDER): a trainer of two modules on a GPU, ten steps: its calls of
 * CUDA, spans of its stream, kernels as CUPTI reports them, a line that waits for the device,
 * memory that is allocated and freed.
 *
 * ranks.zst: a job of four ranks on two hosts, whose clocks are 1.25 ms apart; rank 2 waits 7 ms
 * longer for its batches than the others. Headers have ranks and own cost.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/job_maker.h"
#include "tests/unit/common/trace_maker.h"

static const char *folder;

static void put(struct sp_maker *m, const char *name)
{
	if (sp_maker_write(folder, name, m->bytes, m->size) < 0)
		exit(EXIT_FAILURE);
	sp_maker_finish(m);
}

static void marker(void)
{
	struct sp_run_frame run = {
		.frame = {SP_FRAME_RUN, sizeof(run) - sizeof(run.frame)},
		.version = SP_FORMAT_VERSION,
		.token = {1, 2},
		.made_realtime_ns = 1700000000000000000u,
	};

	memcpy(run.tag, SP_TAG_RUN, sizeof(run.tag));
	if (sp_maker_write(folder, "0-run-0001.zst", &run, sizeof(run)) < 0)
		exit(EXIT_FAILURE);
}

static void trainer(void)
{
	static const char argv[] = "python3\0train.py\0--epochs=2";
	static const char coverage[] = "libjpeg\tunobservable\t/opt/cv2.so links it statically";
	struct sp_maker m;

	sp_maker_init(&m, 100, 100, 1);
	sp_maker_header(&m);
	sp_maker_define(&m, SP_DEFINE_COMMAND, 0, argv, sizeof(argv));
	sp_maker_define(&m, SP_DEFINE_COVERAGE, 0, coverage, sizeof(coverage) - 1);
	sp_maker_define(&m, SP_DEFINE_NOTE, 0, "clock: TSC, 3.0 GHz", 19);
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/usr/lib/python3.11/json/__init__.py");
	sp_maker_file(&m, 2, SP_FILE_REGULAR, "/data/labels.csv");
	sp_maker_file(&m, 3, SP_FILE_PIPE, "pipe:[4711]");
	sp_maker_event(&m, SP_EV_open, 0, 9000, -2);
	sp_maker_event(&m, SP_EV_open, 1, 12000, 3);
	sp_maker_event(&m, SP_EV_read, 1, 6000, 1800);
	sp_maker_event(&m, SP_EV_open, 2, 15000, 4);
	for (int i = 0; i < 10; i++)
		sp_maker_event(&m, SP_EV_fread, 2, 30000u + 3000u * (unsigned)i, 65536);
	sp_maker_block(&m, 0);
	for (int i = 0; i < 20; i++) {
		sp_maker_event(&m, SP_EV_poll, 3, 6000000, 1);
		sp_maker_event(&m, SP_EV_read, 3, 3000, 512);
	}
	sp_maker_event(&m, SP_EV_mmap, 2, 21000, 1 << 20);
	sp_maker_block(&m, SP_BLOCK_LAST);
	put(&m, "a-100-100.zst");
}

static void helper(void)
{
	struct sp_maker m;

	sp_maker_init(&m, 100, 105, 1);
	strcpy(m.header.comm, "pin_memory");
	sp_maker_header(&m);
	for (int i = 0; i < 5; i++)
		sp_maker_event(&m, SP_EV_sem_wait, 77, 180000000, 0);
	sp_maker_block(&m, SP_BLOCK_LAST);
	put(&m, "a-100-105.zst");
}

static void worker(void)
{
	struct sp_window_header w;
	struct sp_maker m;
	size_t at;

	sp_maker_init(&m, 101, 101, 1);
	m.header.flags |= SP_HEADER_FORKED;
	m.header.ppid = 100;
	strcpy(m.header.comm, "pt_data_worker");
	sp_maker_header(&m);
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/\xe6\x97\xa5/a.jpg");
	sp_maker_file(&m, 2, SP_FILE_REGULAR, "/data/b\033[31m.jpg");
	for (int i = 0; i < 30; i++) {
		sp_maker_event(&m, SP_EV_read, 1, 60000, 1 << 20);
		sp_maker_jpeg(&m, 9000000, 640, 480,
			      i == 29 ? SP_DECODE_ABORTED : SP_DECODE_FINISHED);
	}
	sp_maker_block(&m, 0);
	sp_maker_event(&m, SP_EV_read, 2, 90000, 4096);
	sp_maker_free(&m, 256, 0);
	m.lost = 7;
	at = sp_maker_window(&m, 256);
	memcpy(&w, m.bytes + at, sizeof(w));
	w.mark = (struct sp_mark){m.now_ticks + 3000, UINT64_C(2) << 32 | SP_EV_read};
	memcpy(m.bytes + at, &w, sizeof(w));
	put(&m, "a-101-101.zst");
}

static void ranks(void)
{
	struct sp_job job = {.count = 4, .collective = "gloo:all_reduce"};

	for (uint32_t k = 0; k < job.count; k++)
		job.ranks[k] = (struct sp_job_rank){
			.number = k + 1,
			.host = k < 2 ? "host-a" : "host-b",
			.ahead_ns = k < 2 ? 0 : 1250000,
			.loader_more_ns = k == 2 ? 7000000 : 0,
			.steps = 20,
		};
	sp_job_write(&job, folder);
}

enum { LOADER = 1, ADAM, NET, HEAD, GEMM, REDUCE };

static void names(struct sp_maker *m)
{
	static const char *const texts[] = {
		[LOADER] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		[ADAM] = "Optimizer.step#Adam.step",
		[NET] = "\tNet\t(8, 3, 64, 64)",
		[HEAD] = "head\tLinear\t(8, 64)",
		[GEMM] = "_Z4gemmPKfS0_Pf",
		[REDUCE] = "_ZN2at6native6reduceIfEEvPT_i",
	};

	for (uint32_t id = LOADER; id <= REDUCE; id++)
		sp_maker_define(m, SP_DEFINE_NAME, id, texts[id], strlen(texts[id]));
}

/* A kernel that was launched at `at`, as CUPTI reports it,
 * and as the stream's work of its stage. */
static void kernel(struct sp_maker *m, struct sp_maker *gpu, uint64_t at, uint64_t start,
		   uint64_t ns, uint32_t name, uint32_t part)
{
	uint64_t now = m->now_ticks;

	gpu->now_ticks = start + ns;
	sp_maker_around(gpu, SP_EV_gpu_kernel, name, start, 0);
	sp_maker_extra(gpu, 7, (uint64_t)100 << 32 | 1, at);
	m->now_ticks = start + ns;
	sp_maker_around(m, SP_EV_gpu_span, sp_cuda_arg_make(0x40, 0, 0), start, part);
	sp_maker_extra(m, start - at, 20000, 0);
	m->now_ticks = now;
}

/* Returns when it was. */
static uint64_t launch(struct sp_maker *m)
{
	sp_maker_event(m, SP_EV_cudaLaunchKernel, sp_cuda_arg_make(0x40, 0, 0), 8000, 0);
	return m->now_ticks - 8000;
}

/* The line of Python that waited: loss.item(). */
static void wait_for_gpu(struct sp_maker *m)
{
	struct sp_slow_call_metadata facts = {.ticks = 3000000,
					      .kind = SP_EV_cudaStreamSynchronize};
	char line[sizeof(facts) + 32];

	sp_maker_event(m, SP_EV_cudaStreamSynchronize, 0, facts.ticks, 0);
	facts.start = m->now_ticks - facts.ticks;
	memcpy(line, &facts, sizeof(facts));
	memcpy(line + sizeof(facts), "/data/train.py:42\ttrain", 23);
	sp_maker_define(m, SP_DEFINE_LINE, 0, line, sizeof(facts) + 23);
}

static void forward(struct sp_maker *m, struct sp_maker *gpu)
{
	uint64_t net = m->now_ticks, head, at = launch(m);

	kernel(m, gpu, at, at + 5000, 900000, GEMM, SP_PHASE_none);
	m->now_ticks += 100000;
	head = m->now_ticks;
	at = launch(m);
	kernel(m, gpu, at, at + 800000, 200000, REDUCE, SP_PHASE_none);
	m->now_ticks += 50000;
	sp_maker_around(m, SP_EV_module_forward, HEAD, head, 0);
	sp_maker_around(m, SP_EV_module_forward, NET, net, 0);
}

static void gpu_step(struct sp_maker *m, struct sp_maker *gpu, int step)
{
	uint64_t at = m->now_ticks;

	m->now_ticks += 400000;
	sp_maker_around(m, SP_EV_torch_range, LOADER, at, 0);
	sp_maker_event(m, SP_EV_cudaMemcpyAsync,
		       sp_cuda_arg_make(0x40, SP_COPY_TO_DEVICE, SP_COPY_HOST_PINNED), 30000,
		       393216);
	if (step == 3)
		sp_maker_event(m, SP_EV_cudaMalloc, 0x2000, 250000, 1 << 20);
	forward(m, gpu);
	at = m->now_ticks;
	kernel(m, gpu, launch(m), at + 950000, 1800000, GEMM, SP_PHASE_backward);
	m->now_ticks += 900000;
	sp_maker_around(m, SP_EV_torch_backward, 0, at, 0);
	at = m->now_ticks;
	kernel(m, gpu, launch(m), at + 1900000, 300000, REDUCE, SP_PHASE_optimizer);
	m->now_ticks += 100000;
	sp_maker_around(m, SP_EV_torch_range, ADAM, at, 0);
	wait_for_gpu(m);
	if (step == 6)
		sp_maker_event(m, SP_EV_cudaFree, 0x2000, 150000, 0);
}

static void gpu(void)
{
	static const char coverage[] = "cuda-runtime\tbound\tlibcudart.so.13";
	struct sp_maker m, cupti;

	sp_maker_init(&m, 100, 100, 0);
	sp_maker_header(&m);
	sp_maker_define(&m, SP_DEFINE_COVERAGE, 0, coverage, sizeof(coverage) - 1);
	names(&m);
	sp_maker_init(&cupti, 100, 4294967295u, 0);
	strcpy(cupti.header.comm, "GPU");
	sp_maker_header(&cupti);
	names(&cupti);
	sp_maker_event(&m, SP_EV_cudaMalloc, 0x1000, 400000, 64 << 20);
	sp_maker_event(&m, SP_EV_cudaHostAlloc, 0x9000, 300000, 1 << 20);
	for (int i = 0; i < 10; i++)
		gpu_step(&m, &cupti, i);
	sp_maker_block(&m, SP_BLOCK_LAST);
	put(&m, "a-100-100.zst");
	sp_maker_block(&cupti, SP_BLOCK_LAST);
	put(&cupti, "a-100-gpu.zst");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return EXIT_FAILURE;
	folder = argv[2];
	marker();
	if (strcmp(argv[1], "ranks") == 0) {
		ranks();
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "gpu") == 0) {
		gpu();
		return EXIT_SUCCESS;
	}
	trainer();
	helper();
	worker();
	return EXIT_SUCCESS;
}
