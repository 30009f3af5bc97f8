/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of recording threads: their begin and their end, and the recorder of the device. Hooks
 * begin a thread by sp_enter() and end it by sp_thread_finish() (preload/recorder/recorder.h).
 */
#ifndef STAGEPROF_PRELOAD_THREAD_H
#define STAGEPROF_PRELOAD_THREAD_H

#include "preload/recorder/recorder.h"

/*
 * The recorder of the device, for events of the GPU, which no thread made. Its file has the tid 0
 * and SP_HEADER_DEVICE. One caller at a time uses it, by sp_emit and the other functions that
 * take a recorder. Returns NULL on failure. Fork loses it as it loses any recorder.
 */
struct sp_thread *sp_device_recorder_begin(void);

/* Ends its file cleanly and frees the recorder. */
void sp_device_recorder_finish(struct sp_thread *t);

/* Constructor, once: registers for the end of threads. */
void sp_thread_init(void);

#endif
