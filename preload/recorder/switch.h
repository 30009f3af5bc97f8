/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch of recording. The user switches the whole run by a word (docs/FORMAT.md, RUN): every
 * process maps it with the marker file, or has it in shared memory of the run. STAGEPROF_STEPS
 * switches by the optimizer steps of this process; processes without steps (workers) follow those
 * with steps.
 *
 * Every hook reads the switch: two loads and a test. All functions are async-signal-safe and make
 * no system call, except sp_switch_join() and a step that begins or ends the window.
 */
#ifndef STAGEPROF_PRELOAD_SWITCH_H
#define STAGEPROF_PRELOAD_SWITCH_H

#include <stdint.h>

#include "preload/files/spare_files.h"
#include "preload/sys/hidden.h"

/* Bits of the word; recording is off if any bit is set. */
#define SP_SWITCH_USER 1u
#define SP_SWITCH_WINDOW 2u

extern const uint32_t *sp_switch_word SP_HIDDEN;
extern uint32_t sp_switch_mask SP_HIDDEN;

static inline uint32_t sp_switch_off_bits(void)
{
	const uint32_t *word = __atomic_load_n(&sp_switch_word, __ATOMIC_ACQUIRE);

	return __atomic_load_n(word, __ATOMIC_RELAXED) &
	       __atomic_load_n(&sp_switch_mask, __ATOMIC_RELAXED);
}

static inline int sp_switch_is_off(void)
{
	return sp_switch_off_bits() != 0;
}

/* Constructor: reads the settings. */
void sp_switch_init(void);

/* The first value of the word of a new run. */
uint32_t sp_switch_initial(void);

/* Inside sp_fd_private_task(): finds the run's word by its marker file. Where there is none, this
 * process keeps the word that the marker has now. */
void sp_switch_join(const char *marker);

/* After sp_switch_join(): 0 where files of the run must not be mapped. */
int sp_switch_maps_files(void);

/* The table of spare files; NULL: none. Forked children have their parent's. */
struct sp_spare_table *sp_switch_spare_table(void);

/* In a forked child, which has made no step yet. */
void sp_switch_forked(void);

/* A backward, and the end of an optimizer's step. One step of training is counted if there was a
 * backward since the last step. Also while recording is off. */
void sp_switch_backward(void);
void sp_switch_step(void);

/* The optimizer steps of this process; 1 if the last switch was made by steps. */
uint64_t sp_switch_steps(void);
int sp_switch_was_by_steps(void);

#endif
