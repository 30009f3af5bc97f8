/*
 * Wrote the golden runs of format version 2: make_golden run FOLDER, make_golden ranks FOLDER. A golden
 * run stays as it is for ever; this shows what is in it.
 *
 * run.zst:
 * One trainer that ended cleanly (pid 100: main thread and a helper), one loader worker that was
 * killed in a read (pid 101) and lost 7 events, one JPEG given up, one failed open, one coverage
 * line and one note.
 *
 * ranks.zst: a job of four ranks on two hosts, whose clocks are 1.25 ms apart; rank 2 waits 7 ms longer
 * for its batches than the others. Headers tell ranks and own cost.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job_maker.h"
#include "tests/unit/trace_maker.h"

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
	trainer();
	helper();
	worker();
	return EXIT_SUCCESS;
}
