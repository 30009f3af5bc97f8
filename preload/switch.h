/*
 * Whether recording is on. The user switches the whole run by a word in its marker file (docs/FORMAT.md),
 * which every process maps; STAGEPROF_STEPS and STAGEPROF_WARMUP switch by the optimizer steps that this
 * process makes, and processes that make none (workers) follow those that do.
 *
 * Asked by every hook: two loads and a test. All functions are async-signal-safe and make no system call,
 * but for sp_switch_map().
 */
#ifndef STAGEPROF_PRELOAD_SWITCH_H
#define STAGEPROF_PRELOAD_SWITCH_H

#include <stdint.h>

/* Bits of the word; any of them is off. */
#define SP_SWITCH_USER 1u
#define SP_SWITCH_WINDOW 2u

extern const uint32_t *sp_switch_word __attribute__((visibility("hidden")));
extern uint32_t sp_switch_mask __attribute__((visibility("hidden")));

static inline uint32_t sp_switch_off_bits(void)
{
	const uint32_t *word = __atomic_load_n(&sp_switch_word, __ATOMIC_ACQUIRE);

	return __atomic_load_n(word, __ATOMIC_RELAXED) & __atomic_load_n(&sp_switch_mask, __ATOMIC_RELAXED);
}

static inline int sp_switch_is_off(void)
{
	return sp_switch_off_bits() != 0;
}

/* Constructor: reads the settings. */
void sp_switch_init(void);

/* What the word is in a run that begins. */
uint32_t sp_switch_initial(void);

/* Inside sp_aside(): maps the word of the run's marker file. Where that cannot be, the run has none. */
void sp_switch_map(const char *marker);

/* In a forked child: it has made no step yet. */
void sp_switch_forked(void);

/* A backward, and the end of an optimizer's step: one step of training, if there was a backward since the
 * last. Also while recording is off. */
void sp_switch_backward(void);
void sp_switch_step(void);

/* Optimizer steps of this process, and whether the last switch was by them. */
uint64_t sp_switch_steps(void);
int sp_switch_was_by_steps(void);

#endif
