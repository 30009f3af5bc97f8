/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that make batches: the use of their time, in total and while the trainer waited for a
 * batch.
 */
#ifndef STAGEPROF_ANALYZER_WORKER_H
#define STAGEPROF_ANALYZER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/totals/call_rusage_sums.h"
#include "analyzer/workers/batch_receive.h"
#include "analyzer/workers/wait_sums.h"
#include "analyzer/workers/work.h"

struct sp_totals;
struct sp_training;

struct sp_work_sums {
	uint64_t ns[SP_WORKS];
	uint64_t hdf5_file_ns;	     /* of `file_read`: inside of HDF5 */
	uint64_t hdf5_decompress_ns; /* of `decompress`: the same */
};

/* Files that fetches read and open; the start of a process is in none. */
struct sp_fetch_files {
	uint64_t reads, read_bytes, read_ns;
	uint64_t slow_reads, slow_read_ns; /* of them: that wait for a disk or a network */
	uint64_t opens;
	uint64_t hdf5_opens, hdf5_open_ns; /* of files, groups and data sets */
	uint64_t plain_bytes;		   /* decompressed */
	uint64_t hdf5_bytes;		   /* that reads of HDF5 gave */
	uint64_t hdf5_inner_bytes;	   /* that they read or decompressed, whichever is more */
};

struct sp_fetches {
	uint64_t batches;
	uint64_t locked_ns;  /* of `fetch_wait`: for a lock, a queue or a descriptor */
	uint64_t stacked_ns; /* of `collate`: PyTorch's own */
	struct sp_call_rusage_sums usage;
	struct sp_fetch_files files;
};

struct sp_worker {
	uint32_t stream;
	uint32_t trainer;	  /* index into training.trainers */
	bool is_trainer;	  /* the trainer makes its own batches: a loader without workers */
	int64_t begin_ns, end_ns; /* CLOCK_REALTIME */
	struct sp_work_sums whole;
	struct sp_work_sums meanwhile; /* while the trainer waited for a batch */
	struct sp_fetches fetches;
	/* On the training thread: the fetches for steps.
	 * It makes the batches of validation, too. */
	struct sp_fetches waited;
	uint64_t validation_batches; /* made while the trainer validates */
	bool met_full_shm;	     /* a file of its process in /dev/shm got no space */
};

struct sp_workers {
	struct sp_worker *list; /* in the order of streams */
	uint32_t count;
	struct sp_thread_waits *waits; /* of trainers and of these; in the order of streams */
	uint32_t wait_count;
	struct sp_batch_receive receive; /* of all trainers */
	uint32_t full_shm_pid;		 /* of the first that met a full /dev/shm; 0: none */
};

/* Reads the trainers and their children, with run->jobs threads. Returns 0 or -ENOMEM. */
int sp_workers_read(struct sp_workers *workers, const struct sp_totals *totals,
		    const struct sp_training *training);
void sp_workers_finish(struct sp_workers *workers);

#endif
