/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace's clock: a cycle counter if it is invariant, else CLOCK_MONOTONIC in ns.
 * sp_clock_init runs in the constructor, sp_clock_calibrate once before the first thread records.
 * The other functions are async-signal-safe and make no system call if the kernel offers
 * clock_gettime in the vDSO. They call the kernel's own one: another preloaded library may have put
 * a clock of its own before libc's, which stands still or opens files (libfaketime).
 */
#ifndef STAGEPROF_PRELOAD_CLOCK_H
#define STAGEPROF_PRELOAD_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "preload/sys/hidden.h"
#include "trace/format.h"

struct sp_recorder_clock {
	uint64_t keep;	/* mask: the bits of the counter that a reading keeps; 0: no counter */
	int counter;	/* ticks are raw TSC or cntvct */
	uint32_t grain; /* step of the clock in ticks */
	uint64_t ticks_per_second; /* estimate */
	uint64_t long_wait_ticks;  /* 100 µs: waits shorter than this are not recorded */
};

extern struct sp_recorder_clock sp_recorder_clock SP_HIDDEN;

enum sp_clock_choice { SP_CLOCK_AUTO, SP_CLOCK_COUNTER, SP_CLOCK_MONOTONIC };

/* Finds the kernel's function, chooses the clock and reads it once. */
void sp_clock_init(enum sp_clock_choice choice);

/*
 * Estimates the rate since sp_clock_init; waits at most 50 µs for enough time between the two
 * readings. From then on a counter that steps by powers of two is kept to 10 ns or finer, the
 * time that one reading takes. The lower bits are noise and would be half of a trace. Means are
 * unharmed, because both ends of a span are cut alike.
 */
void sp_clock_calibrate(void);

typedef int sp_clock_function(clockid_t id, struct timespec *ret);

/* The kernel's; a system call until sp_clock_init. */
extern sp_clock_function *sp_clock_gettime SP_HIDDEN;

static inline uint64_t sp_clock_ns(clockid_t id)
{
	struct timespec t = {0, 0};

	sp_clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t sp_clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#endif
}

/* sp_clock_ticks() if sp_recorder_clock.keep is not 0. */
static inline uint64_t sp_clock_counted(void)
{
	return sp_clock_counter() & sp_recorder_clock.keep;
}

static inline uint64_t sp_clock_ticks(void)
{
	if (__builtin_expect(sp_recorder_clock.keep != 0, 1))
		return sp_clock_counted();
	return sp_clock_ns(CLOCK_MONOTONIC);
}

/* A duration by the estimate of sp_clock_calibrate. */
static inline uint64_t sp_clock_span_ns(uint64_t ticks)
{
	return (uint64_t)((__uint128_t)ticks * 1000000000u / sp_recorder_clock.ticks_per_second);
}

void sp_clock_read(struct sp_clock_point *ret);

#endif
