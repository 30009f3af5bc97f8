/*
 * CUPTI's buffers and what is in them: records become events of a stream of their own. The buffers are a fixed
 * pool; when all are with CUPTI it drops records, and says how many.
 */
#ifndef STAGEPROF_PRELOAD_CUPTI_RECORDS_H
#define STAGEPROF_PRELOAD_CUPTI_RECORDS_H

#include "preload/cupti.h"

#define SP_CUPTI_BUFFERS 64u
#define SP_CUPTI_BUFFER_BYTES (128u * 1024u) /* some 600 kernels */

/* Takes the pool and the stream. Returns 0 or -ENOMEM. `cupti` stays. */
int sp_cupti_records_begin(const struct sp_cupti *cupti);

/* Width of the surest reading of both clocks so far, in ns: how well GPU times fit the trace's clock, beside what
 * CUPTI itself makes of the GPU's clock. */
uint64_t sp_cupti_clock_error_ns(void);

/* After the last flush: brings the stream to its clean end. Later buffers are passed over. */
void sp_cupti_records_end(void);

/* CUPTI's two callbacks, on its thread or on one that flushes or makes a call. */
void sp_cupti_buffer_request(uint8_t **buffer, size_t *bytes, size_t *records);
void sp_cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t used);

/* A call that gives work began now on this thread. While recording is off what it gives is left out. */
void sp_cupti_launch_note(uint32_t correlation, uint32_t tid, uint64_t ticks, int is_off);

#endif
