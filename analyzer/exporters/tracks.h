/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a run. Each exporter of a timeline writes it in its own format.
 *
 * A thread is a track; its slices lie in lanes (nest.h). Threads of one number in one process,
 * before and after an exec, are one track. Trainers also have a track of steps. All instants are
 * CLOCK_REALTIME.
 */
#ifndef STAGEPROF_ANALYZER_TRACKS_H
#define STAGEPROF_ANALYZER_TRACKS_H

#include <stdint.h>

#include "analyzer/exporters/backward_matching.h"
#include "analyzer/exporters/export_records.h"
#include "analyzer/exporters/launch_matching.h"
#include "analyzer/exporters/nest.h"

#define TRACKS_BUCKET_NS 100000000 /* of counters */

enum sp_tracks_counter {
	SP_TRACKS_READ,	   /* bytes read, of the stages that the report's read_bytes adds up */
	SP_TRACKS_WRITTEN, /* bytes written, of the stages that the report's
			      written_bytes adds up */
	SP_TRACKS_COUNTERS
};

struct sp_tracks_process {
	uint32_t image; /* its first */
	uint32_t host, pid;
};

struct sp_tracks_thread {
	uint32_t stream; /* its first */
	uint32_t process;
	uint32_t tid;
};

struct sp_tracks_slice {
	const struct sp_record *record;
	uint32_t track, lane; /* of what a GPU did (record->is_gpu): of its process, and 0 */
	uint64_t batch;	      /* that was fetched in it; 0: none */
};

/* A step, or a stretch of the pause between two steps. */
struct sp_tracks_step {
	uint32_t trainer, track;
	bool is_first;		    /* the first step that is given of this trainer */
	uint32_t number;	    /* of the step; of a pause, that of the step after it */
	const struct sp_step *step; /* NULL: a pause */
	bool is_validation;	    /* a pause in which the model is evaluated */
	int64_t start_ns, end_ns;
};

struct sp_tracks_arrival {
	uint64_t batch;
	uint32_t track;	  /* that read it */
	uint32_t trainer; /* of its process; UINT32_MAX: none */
	int64_t at_ns;
};

/* From a call of an operator to the autograd node that it made. */
struct sp_tracks_backward {
	uint64_t number; /* from 1 */
	uint32_t forward_track, backward_track;
	int64_t forward_ns, backward_ns; /* where the two begin */
};

struct sp_tracks;

/* The functions are called in the order of this list, except the last four, which are mixed.
 * Results as from write(). */
struct sp_tracks_sink {
	int (*process)(void *context, uint32_t process);
	int (*track)(void *context, uint32_t track);
	int (*step)(void *context, const struct sp_tracks_step *step);
	int (*slice)(void *context, const struct sp_tracks_slice *slice);
	int (*arrival)(void *context, const struct sp_tracks_arrival *arrival);
	/* NULL: not wanted */
	int (*backward)(void *context, const struct sp_tracks_backward *backward);
	/* bytes: in the bucket that begins then */
	int (*counter)(void *context, uint32_t process, enum sp_tracks_counter counter,
		       int64_t at_ns, uint64_t bytes);
};

struct sp_tracks {
	struct sp_export *export;
	const struct sp_tracks_sink *sink;
	void *context;

	struct sp_tracks_process *processes;
	uint32_t process_count;
	struct sp_tracks_thread *tracks;
	uint32_t track_count;
	uint32_t *track_of; /* parallel to index.streams */
};

/* Finds processes and tracks. Returns 0 or -ENOMEM. */
int sp_tracks_init(struct sp_tracks *t, struct sp_export *export, const struct sp_tracks_sink *sink,
		   void *context);
int sp_tracks_run(struct sp_tracks *t);
void sp_tracks_finish(struct sp_tracks *t);

/* The name of the file that the process runs; not escaped, not NUL-terminated. */
const char *sp_tracks_process_name(const struct sp_tracks *t, uint32_t process, size_t *ret_bytes);

#endif
