/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of recording threads: their begin and their end, and the recorder of the device. Hooks
 * begin a thread by sp_enter() (preload/recorder/recorder.h).
 */
#ifndef STAGEPROF_PRELOAD_THREAD_H
#define STAGEPROF_PRELOAD_THREAD_H

#include "preload/blocks/thread_slots.h"

/* Where sp_enter() has to look further: begins, pauses or resumes the calling thread. NULL if the
 * call is to pass through unrecorded. */
struct sp_thread *sp_thread_begin(void);

/* The calling thread's recorder even while recording is off, for definitions. NULL as for
 * sp_enter(). */
struct sp_thread *sp_thread_even_off(void);

/*
 * Ends the calling thread's file cleanly (block published, file cut). The thread's next event
 * begins another segment. For thread end, exit, _exit and exec. Does nothing inside a handler
 * that interrupted the recorder: the file is valid as it stands.
 */
void sp_thread_finish(void);

/* The id of the thread in its file. 0: NULL, or no file. */
uint32_t sp_thread_tid(const struct sp_thread *t);

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
