/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's buffers and their records, which become events of the device's stream. The buffers are
 * a fixed pool; when CUPTI holds all of them it drops records and reports their number.
 */
#ifndef STAGEPROF_PRELOAD_CUPTI_RECORDS_H
#define STAGEPROF_PRELOAD_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "preload/cuda/cupti_find.h"

#define SP_CUPTI_BUFFERS 64u
#define SP_CUPTI_BUFFER_BYTES (128u * 1024u) /* some 600 kernels */

/* Makes the pool and the stream. Returns 0 or -ENOMEM. `cupti` must stay valid. */
int sp_cupti_records_begin(const struct sp_cupti *cupti);

/* The width of the best reading of both clocks so far, in ns: the error of GPU times on the trace's
 * clock, without the error of CUPTI's own fit of the GPU's clock. */
uint64_t sp_cupti_clock_error_ns(void);

/* After the last flush: ends the stream cleanly. Later buffers are ignored. */
void sp_cupti_records_end(void);

/* CUPTI's two callbacks, on its thread or on one that flushes or makes a call. */
void sp_cupti_buffer_request(uint8_t **buffer, size_t *bytes, size_t *records);
void sp_cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t used);

/* A call that gives work began now on this thread. Its work is left out if recording is off. */
void sp_cupti_launch_note(uint32_t correlation, uint32_t tid, uint64_t ticks, int is_off);

#endif
