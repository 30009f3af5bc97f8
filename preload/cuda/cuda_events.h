/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's functions for our own events: create, record, query. They are looked up once, when
 * the driver has begun, not on the path of a call that gives the device work. A driver must have
 * all of them.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_EVENTS_H
#define STAGEPROF_PRELOAD_CUDA_EVENTS_H

#include "preload/sys/hidden.h"

/* cuda.h 11.0 to 13.0: names and prototypes of the exported
 * functions are the same in all of them. */
struct sp_cuda_events {
	int (*cuCtxGetCurrent)(void **context);
	int (*cuCtxGetDevice)(int *device);
	int (*cuCtxPushCurrent_v2)(void *context);
	int (*cuCtxPopCurrent_v2)(void **context);
	int (*cuEventCreate)(void **event, unsigned flags);
	int (*cuEventRecord)(void *event, void *stream);
	int (*cuEventQuery)(void *event);
	int (*cuEventElapsedTime)(float *ms, void *from, void *to);
	int (*cuStreamIsCapturing)(void *stream, int *status);
	int (*cuThreadExchangeStreamCaptureMode)(int *mode);
};

extern struct sp_cuda_events sp_cuda_events SP_HIDDEN;

/* Returns 1 if all were found; no other function may be called before. */
int sp_cuda_events_are_found(void);

/* Looks in the driver that the program has loaded; without one, the next call looks again. Takes
 * the loader's lock: not for signal handlers. */
void sp_cuda_events_find(void);

/* Returns 1 if the found driver is no longer loaded: then nothing is found, and the next
 * sp_cuda_events_find() looks again. No thread may be between sp_cuda_events_are_found() and a
 * call. */
int sp_cuda_events_are_gone(void);

/* Allows the thread's own driver calls during any capture, until restored: our calls touch no
 * stream that captures. sp_cuda_relax returns 0 if the driver refuses. */
struct sp_cuda_relaxed {
	int mode, is_kept;
};

int sp_cuda_relax(struct sp_cuda_relaxed *before);
void sp_cuda_restore(struct sp_cuda_relaxed *before);

#endif
