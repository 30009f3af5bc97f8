/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/clock.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "preload/sys/elf_symbols.h"
#include "preload/sys/hot_data.h"
#include "preload/sys/processor.h"
#include "preload/sys/sys.h"

#define KEPT_NS_MAX 10u
#define READINGS_MOST 4
#define READING_TIMES 4u /* the shortest reading: a longer one is tried again */

struct sp_recorder_clock sp_recorder_clock SP_HOT_FIRST = {.keep = 0,
							   .counter = 0,
							   .grain = 1,
							   .ticks_per_second = 1000000000};

#if defined(__x86_64__)
#define KERNEL_GETTIME "__vdso_clock_gettime"
#else
#define KERNEL_GETTIME "__kernel_clock_gettime"
#endif

static int gettime_by_call(clockid_t id, struct timespec *ret)
{
	return (int)SP_SYS2(SYS_clock_gettime, id, ret);
}

sp_clock_function *sp_clock_gettime = gettime_by_call;

#if defined(__x86_64__)
/* Intel SDM vol. 3 18.17.1, AMD APM vol. 3: CPUID 8000_0007 EDX bit 8, the TSC runs at one rate in
 * all power states. */
static int counter_is_invariant(void)
{
	unsigned a, b, c, d;
	int counter = sp_processor_counter_is_invariant();

	if (counter >= 0)
		return counter;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
#else
static int counter_is_invariant(void)
{
	return 1; /* cntvct_el0 is, by the architecture */
}
#endif

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Virtual machines and some processors step the counter by more than one. A guess that is too large
 * costs a block its division, never a wrong number: the encoder checks each value. */
static uint32_t observe_grain(void)
{
	uint64_t before = sp_clock_counter(), grain = 0;

	for (int i = 0; i < 256; i++) {
		uint64_t now = sp_clock_counter();

		grain = gcd(now - before, grain);
		before = now;
	}
	return grain > 0 && grain < UINT32_MAX ? (uint32_t)grain : 1;
}

static struct sp_clock_point origin;

static void gettime_find(void)
{
	void *found = sp_symbol_of_kernel(KERNEL_GETTIME);

	if (found)
		memcpy(&sp_clock_gettime, &found, sizeof(sp_clock_gettime));
}

void sp_clock_init(enum sp_clock_choice choice)
{
	gettime_find();
	sp_recorder_clock.counter =
		choice == SP_CLOCK_COUNTER || (choice == SP_CLOCK_AUTO && counter_is_invariant());
	sp_recorder_clock.keep = sp_recorder_clock.counter ? UINT64_MAX : 0;
	if (sp_recorder_clock.counter)
		sp_recorder_clock.grain = observe_grain();
	sp_clock_read(&origin); /* the first of its readings waits for the kernel's page */
}

static void choose_grain(void)
{
	uint64_t most = sp_recorder_clock.ticks_per_second * KEPT_NS_MAX / 1000000000u;

	if (sp_recorder_clock.grain & (sp_recorder_clock.grain - 1))
		return;
	while (sp_recorder_clock.grain * UINT64_C(2) <= most)
		sp_recorder_clock.grain *= 2;
	sp_recorder_clock.keep = -(uint64_t)sp_recorder_clock.grain;
}

void sp_clock_calibrate(void)
{
	struct sp_clock_point now;

	do
		sp_clock_read(&now);
	while (now.monotonic_ns - origin.monotonic_ns < 50000);
	if (sp_recorder_clock.counter) {
		sp_recorder_clock.ticks_per_second =
			(uint64_t)((__uint128_t)(now.ticks - origin.ticks) * 1000000000u /
				   (now.monotonic_ns - origin.monotonic_ns));
		choose_grain();
	}
	sp_recorder_clock.long_wait_ticks = sp_recorder_clock.ticks_per_second / 10000;
}

/* The counter is read before and after the slower clock; the middle counts. Returns the ticks that
 * it took. */
static uint64_t read_once(struct sp_clock_point *ret)
{
	uint64_t before = sp_clock_ticks(), after;

	ret->monotonic_ns = sp_clock_ns(CLOCK_MONOTONIC);
	after = sp_clock_ticks();
	ret->ticks = sp_recorder_clock.counter ? before + (after - before) / 2 : ret->monotonic_ns;
	ret->realtime_ns = sp_clock_ns(CLOCK_REALTIME);
	return sp_clock_ticks() - before;
}

/* A thread that is put off its core inside of a reading has clocks that are ms apart. */
void sp_clock_read(struct sp_clock_point *ret)
{
	static uint64_t least = UINT64_MAX; /* of all readings */
	uint64_t shortest = UINT64_MAX, usual = __atomic_load_n(&least, __ATOMIC_RELAXED);

	for (int i = 0; i < READINGS_MOST; i++) {
		struct sp_clock_point point;
		uint64_t ticks = read_once(&point);

		if (ticks >= shortest)
			continue;
		shortest = ticks;
		*ret = point;
		if (ticks / READING_TIMES <= usual && usual != UINT64_MAX)
			break;
	}
	if (shortest < usual)
		__atomic_store_n(&least, shortest, __ATOMIC_RELAXED);
}
