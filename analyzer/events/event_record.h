/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event with what it means: its stage, its file or label. Copies nothing of the trace but
 * numbers.
 */
#ifndef STAGEPROF_ANALYZER_EVENT_RECORD_H
#define STAGEPROF_ANALYZER_EVENT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/metadata/label.h"
#include "analyzer/report/report.h"
#include "analyzer/metadata/stage.h"

struct sp_record {
	uint32_t stream; /* index into index.streams */
	uint32_t kind;	 /* trace/events.def, or a number that this version does not know */
	uint32_t arg;
	enum sp_stage stage;
	int64_t start_ns; /* CLOCK_REALTIME of its host */
	uint64_t dur_ns;
	int64_t value;	/* SP_VALUE_ABANDONED: the call did not return */
	uint32_t file;	/* number in metadata.files; SP_STRINGS_REST:
			   none, or its name is not known */
	uint32_t label; /* number in metadata.labels; SP_STRINGS_REST as above */
	bool has_image;
	uint32_t width, height; /* has_image */
	uint64_t batch;		/* that was fetched; set by tracks.c */
	bool is_gpu;		/* what a GPU did, on its stream of these numbers */
	uint32_t device, gpu_stream;
	uint32_t
		correlation; /* CUPTI's, of a call that gives work and of the work alike; 0: none */
	uint64_t inside_ns;  /* has_image: in the library, without what the program does between its
				calls */
};

/* Clipped to INT64_MAX. */
static inline int64_t sp_record_end_ns(const struct sp_record *record)
{
	int64_t end_ns;

	return __builtin_add_overflow(record->start_ns, record->dur_ns, &end_ns) ? INT64_MAX
										 : end_ns;
}

/*
 * Calls take(context, record) for each selected event, in the order in which they ended; a result
 * that is not 0 ends the reading and is returned, if it is negative. Returns 0 or -ENOMEM. Memory:
 * merge.h.
 */
int sp_records_read(const struct sp_report *report,
		    int (*take)(void *context, const struct sp_record *record), void *context);

/* True where the label is the event's name: of ranges and kernels. Else it is what the call was
 * about. */
static inline bool sp_record_is_named(const struct sp_record *record)
{
	return record->stage == SP_STAGE_range || record->stage == SP_STAGE_gpu_kernel;
}

#define SP_RECORD_KIND_BYTES 20u
#define SP_RECORD_NAME_BYTES SP_LABEL_ROOM

/* The event's name; of an unknown kind, "kind-NUMBER". */
const char *sp_record_kind(const struct sp_record *record, char ret[SP_RECORD_KIND_BYTES]);

/* A range's label, a kernel's name, any other event's kind; not escaped, not NUL-terminated. */
const char *sp_record_name(const struct sp_report *report, const struct sp_record *record,
			   char room[SP_RECORD_NAME_BYTES], size_t *ret_bytes);

/* The path, or NULL. */
const char *sp_record_file(const struct sp_report *report, const struct sp_record *record,
			   size_t *ret_bytes);

/* True where the value is a count of bytes that were moved (no error, not abandoned). */
bool sp_record_has_bytes(const struct sp_record *record);

/* True where `arg` distinguishes the communicators of NCCL that one process has at one time. */
bool sp_record_has_communicator(const struct sp_record *record);

/* "pageable" or "pinned": the host's memory in a copy of CUDA or HIP. NULL: there is none, or it is
 * not known. */
const char *sp_record_host_memory(const struct sp_record *record);

#endif
