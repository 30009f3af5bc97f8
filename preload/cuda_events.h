/*
 * The driver's functions that events of our own need: made, put on a stream, asked for. They are found once,
 * when the driver has begun, and not on the path of a call that gives the device work; a driver that lacks
 * one will not do.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_EVENTS_H
#define STAGEPROF_PRELOAD_CUDA_EVENTS_H

/* cuda.h 11.0 to 13.0: names and prototypes of the exported functions are the same in all of them. */
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

extern struct sp_cuda_events sp_cuda_events __attribute__((visibility("hidden")));

/* 1 where all were found, and nothing else may be called before. */
int sp_cuda_events_are_found(void);

/* Looks in the driver that the program has loaded; where it has none, the next call looks again. Takes the
 * loader's lock: not for signal handlers. */
void sp_cuda_events_find(void);

/* 1 where what was found is no longer loaded: then nothing is found, and the next sp_cuda_events_find() looks again. Nobody
 * may be between sp_cuda_events_are_found() and a call. */
int sp_cuda_events_are_gone(void);

/* The thread's own driver calls are allowed whatever captures, until restored: ours touch no stream that
 * does. relax() returns 0 where the driver would not. */
struct sp_cuda_relaxed {
	int mode, is_kept;
};

int sp_cuda_relax(struct sp_cuda_relaxed *before);
void sp_cuda_restore(struct sp_cuda_relaxed *before);

#endif
