/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run's file of CALL frames, which the launcher appends to. A reader never sees a half of one.
 */
#ifndef STAGEPROF_WATCH_CALL_FILE_H
#define STAGEPROF_WATCH_CALL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* Zeros: no file yet. */
struct sp_call_file {
	uint32_t calls;
	uint32_t generation; /* of the file: a new one takes the name of a full one */
};

/* A frame of this stream without its text and its hash. */
struct sp_call_frame sp_call_frame(enum sp_call_what what, uint64_t stream_id);

/* Sets the hash and appends the frame. `directory` is a descriptor of the run's folder. A new
 * generation has none of the earlier frames: the caller writes what still holds again. */
void sp_call_file_append(struct sp_call_file *file, int directory, struct sp_call_frame *frame);

#endif
