/*
 * What a thread that makes batches does, by the event that tells it.
 *
 * decompress: but what a decoder or HDF5 does of it for itself.
 * mapped_read: off the core in a fetch that had page faults which read, and in no call that is known.
 * transform: what is left of fetching; idle: blocked outside of it; other: neither. jpeg_decode to
 * video_decode are seen at the library's boundary; png_decode, image_decode and video_decode are,
 * besides, what is left of the wrapped calls that decode.
 */
#ifndef STAGEPROF_ANALYZER_WORK_H
#define STAGEPROF_ANALYZER_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/stage.h"

struct sp_slot;

enum sp_work {
#define SP_WORK(name, title) SP_WORK_##name,
#include "analyzer/work.def"
#undef SP_WORK
	SP_WORKS
};

const char *sp_work_name(enum sp_work work);
const char *sp_work_title(enum sp_work work);

/* False where the event is none of them; stage: the event's. */
bool sp_work_of(const struct sp_slot *slot, enum sp_stage stage, enum sp_work *ret);

#endif
