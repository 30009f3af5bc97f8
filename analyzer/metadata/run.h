/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run that the inputs recorded: the selection, the index of its files, and the metadata of its
 * processes. Everything above this room reads the run and changes nothing in it.
 */
#ifndef STAGEPROF_ANALYZER_RUN_H
#define STAGEPROF_ANALYZER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/metadata.h"
#include "analyzer/reader/event_reader.h"
#include "analyzer/reader/index.h"

/* The threads and the time that are asked for. */
struct sp_selection {
	uint32_t pid, tid;	/* 0: all */
	int64_t from_ns, to_ns; /* since the run began; INT64_MIN, INT64_MAX: no bound */
};

/* CLOCK_REALTIME: at or after from_ns and before to_ns. */
struct sp_time_window {
	int64_t from_ns, to_ns;
};

struct sp_run {
	/* Set by the caller before sp_run_read(). */
	struct sp_selection selection;
	unsigned jobs; /* threads that read */
	enum sp_file_naming naming;
	uint32_t names_max;  /* names of files that are kept */
	uint64_t text_bytes; /* of names that are kept; 0: SP_TEXT_BYTES_MAX */

	/* Set by sp_run_read(); sp_index_add() gives the index its files. */
	struct sp_index index;
	struct sp_metadata metadata;
	struct sp_time_window *windows; /* of each process image, where steps are selected; owned */
	int64_t begin_ns;		/* CLOCK_REALTIME when the run's first file was made */
};

/* The process of a stream: what its header says, and its definitions. */
static inline const struct sp_process_image *sp_run_image(const struct sp_run *run, uint32_t stream)
{
	return &run->index.images[run->index.streams[stream]->image];
}

static inline const struct sp_process_metadata *sp_run_process(const struct sp_run *run,
							       uint32_t stream)
{
	return &run->metadata.images[run->index.streams[stream]->image];
}

/* Reads frames and definitions of the inputs that sp_index_add() took. Returns 0 or -ENOMEM. */
int sp_run_read(struct sp_run *run);

void sp_run_finish(struct sp_run *run);

const struct sp_host *sp_run_host(const struct sp_run *run, uint32_t stream);

/* True for streams of the selected process and thread. */
bool sp_run_selects(const struct sp_run *run, uint32_t stream);

/* The selected time, for streams of this process image. */
struct sp_tick_range sp_run_span(const struct sp_run *run, uint32_t image);

/* The bounds of the selected time, CLOCK_REALTIME; INT64_MIN and INT64_MAX: no bound. */
struct sp_time_window sp_run_window(const struct sp_run *run, uint32_t image);

/* True where less than the whole time is selected. */
bool sp_run_is_cut(const struct sp_run *run);

/* The name that the thread gave itself, else its name in the kernel; not escaped, of fewer than 64
 * bytes. */
const char *sp_run_thread_name(const struct sp_run *run, uint32_t stream);

/* True where any input contains a part of a trace. */
bool sp_run_has_trace(const struct sp_run *run);

#endif
