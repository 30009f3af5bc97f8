/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a thread that makes batches, by the thread's events.
 * decompress does not include decompression inside a decoder. hdf5 is the library's own code and
 * Python's around it, without its reads of the file and its decompression. mapped_read is the time
 * in page faults that waited for their page. net_read is connecting and reading over the network,
 * pipe_read is reading pipes and other processes' sockets in a fetch. fetch_wait is the time of a
 * fetch that was blocked: in a wait for a lock, a queue or a descriptor, or in no known call.
 * core_wait is time ready to run without a core, whatever call it was in. transform is the rest of
 * a fetch; idle is time blocked outside a fetch; other is the rest. Where page faults were not
 * observed, blocked time in no known call is mapped_read if nearly each switch away was one of a
 * fault that read, else fetch_wait. The events jpeg_decode to video_decode come from the
 * boundaries of libraries; png_decode, image_decode and video_decode also include the rest of the
 * wrapped calls that decode.
 */
#ifndef STAGEPROF_ANALYZER_WORK_H
#define STAGEPROF_ANALYZER_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/stage.h"

struct sp_slot;

enum sp_work {
#define SP_WORK(name, title, kind, inside) SP_WORK_##name,
#include "analyzer/workers/work.def"
#undef SP_WORK
	SP_WORKS
};

const char *sp_work_name(enum sp_work work);
const char *sp_work_title(enum sp_work work);

/* The verdict's sums of works. */
enum sp_work_kind {
	SP_WORK_KIND_READ,
	SP_WORK_KIND_DECODE,
	SP_WORK_KIND_RECEIVE, /* from the network and from other processes */
	SP_WORK_KIND_MAKE,    /* the rest of making a batch */
	SP_WORK_KIND_IDLE,
	SP_WORK_KIND_OTHER,
};

enum sp_work_kind sp_work_kind(enum sp_work work);

/* True where a decompression inside the work is part of it, and no work of its own. */
bool sp_work_contains_decompression(enum sp_work work);

/* False where the event is no work. stage: the event's, or SP_STAGES. */
bool sp_work_of(const struct sp_slot *slot, enum sp_stage stage, enum sp_work *ret);

#endif
