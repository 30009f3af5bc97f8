/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's interface for hooks: sp_enter() gives the calling thread's recorder, and emit.h
 * says what goes into it.
 *
 * Everything here is async-signal-safe and keeps errno. Nothing here allocates from the host's
 * heap, takes a lock or makes a system call, except the rare steps named in stream.h. A hook must
 * not keep a struct sp_thread beyond its hooked call.
 */
#ifndef STAGEPROF_PRELOAD_RECORDER_H
#define STAGEPROF_PRELOAD_RECORDER_H

#include "preload/recorder/emit.h"
#include "preload/recorder/switch.h"
#include "preload/recorder/thread.h"

/* 0: the calling thread records. */
static inline uint32_t sp_thread_idle_bits(const struct sp_thread *t)
{
	return (t->state ^ SP_THREAD_LIVE) | sp_tls.suppress_depth | sp_switch_off_bits();
}

/* The calling thread's recorder if the thread records now; NULL: sp_enter() has to look further. */
static inline struct sp_thread *sp_thread_at_work(void)
{
	struct sp_thread *t = sp_tls.thread;

	return sp_likely(t && !sp_thread_idle_bits(t)) ? t : NULL;
}

/* The calling thread's recorder, or NULL if the call is to pass through unrecorded. */
static inline struct sp_thread *sp_enter(void)
{
	struct sp_thread *t = sp_thread_at_work();

	return sp_likely(t != NULL) ? t : sp_thread_begin();
}

#endif
