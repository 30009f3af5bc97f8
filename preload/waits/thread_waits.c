/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/waits/thread_waits.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "preload/blocks/publish.h"
#include "preload/recorder/emit.h"
#include "preload/recorder/intern.h"
#include "preload/recorder/own_work.h"
#include "preload/waits/mapped_files.h"
#include "preload/settings/config.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/freeze.h"
#include "preload/sys/sys.h"

#define FAULT_NS_LEAST 10000u	/* blocked in a fault: the page was not there */
#define OUTSIDE_NS_LEAST 10000u /* of an event outside of a fetch; the sum has the shorter ones */
#define READY_NS_LEAST 100000u	/* of an event; the sum has the shorter ones, too */
/* Page faults a second, of which each costs 0.3 µs more: more than two percent of the time. */
#define FAULTS_RATE_MOST 80000u
#define FAULTS_FEW 1000u /* in a fetch */
/* One fetch that imports a library or makes its buffers says nothing of the next ones. */
#define MANY_IN_SUCCESSION 4u
#define MAPS_READS 2u	   /* in a fetch */
#define STEP_FRACTION 200u /* of a second: the least time between two takings by steps */
#define ASKED 32u	   /* faults whose places one reading asks for */

static int is_off;

static const char group[] = "waits";

void sp_waits_init(void)
{
	is_off = sp_config_has(sp_config.without, "waits");
}

static void tell(const char *state, const char *detail)
{
	static uint64_t reported;

	if (sp_coverage_is_new(&reported))
		sp_coverage_add(group, state, detail);
}

struct opening {
	struct sp_perf_ring *ring;
	uint32_t tid;
	bool faults;
	int error;
};

static void task_open(void *argument)
{
	struct opening *o = argument;

	o->error = sp_perf_ring_open(o->ring, o->tid, o->faults);
}

/* A filter may end a process that makes a call which it does not know. */
static bool is_filtered(void)
{
	return SP_SYS1(SYS_prctl, PR_GET_SECCOMP) != SECCOMP_MODE_DISABLED;
}

static const char *reason_of(int error)
{
	switch (-error) {
	case EACCES:
		return SP_NOTE_TEXT("perf events are refused: kernel.perf_event_paranoid");
	case EPERM:
		return SP_NOTE_TEXT("perf events are refused: no right, or no memory that may be "
				    "locked "
				    "(kernel.perf_event_mlock_kb)");
	case ENOSYS:
		return SP_NOTE_TEXT("the kernel has no perf events");
	case ENOMEM:
		return SP_NOTE_TEXT("no memory for perf events");
	default:
		return SP_NOTE_TEXT("the kernel refused perf events");
	}
}

static void ring_open(struct sp_recorder *r, bool faults)
{
	struct opening o = {&r->perf, (uint32_t)SP_SYS1(SYS_gettid, 0), faults, 0};
	uint64_t begin = sp_clock_ticks();
	unsigned long before;

	if (is_filtered()) {
		r->perf_is_refused = true;
		tell("unobservable", SP_NOTE_TEXT("a seccomp filter may forbid perf events"));
		return;
	}
	before = sp_signals_block();
	sp_perf_ring_close(&r->perf);
	sp_fd_private_task(task_open, &o);
	sp_signals_restore(before);
	sp_own_work_end(&r->hot, begin);
	r->perf_is_refused = o.error != 0;
	if (o.error)
		tell("unobservable", reason_of(o.error));
	else
		tell("bound", SP_NOTE_TEXT("perf events"));
}

/* Times of the ring in ticks: both clocks at one instant, and the rate of the ticks. */
struct instant {
	uint64_t ns, ticks;
};

static uint64_t ticks_of(uint64_t ns)
{
	return (uint64_t)((__uint128_t)ns * sp_recorder_clock.ticks_per_second / 1000000000u);
}

static uint64_t ticks_at(const struct instant *now, uint64_t ns)
{
	return ns < now->ns ? now->ticks - ticks_of(now->ns - ns) : now->ticks;
}

struct sums {
	bool is_outside; /* of a fetch */
	uint64_t page_blocked_ns, blocked_ns, ready_ns, lost;
	uint32_t maps_reads_left;
	uint32_t asked; /* faults at places that only the kernel knows */
	struct sp_off_core_time faults[ASKED];
	struct sp_mapped_place places[ASKED];
};

static void settle_fault(struct sp_thread *t, const struct instant *now,
			 const struct sp_off_core_time *fault, enum sp_mapping mapping,
			 uint32_t file, struct sums *sums)
{
	uint64_t start = ticks_at(now, fault->start_ns);
	bool is_swapped = mapping == SP_MAPPING_MEMORY && fault->is_major;

	if (mapping == SP_MAPPING_FILE) {
		sums->page_blocked_ns += fault->blocked_ns;
		sp_emit(t, SP_EV_page_fault, file, start, ticks_of(fault->end_ns - fault->start_ns),
			fault->is_major | (sums->is_outside ? SP_PAGE_OUTSIDE : 0));
		return;
	}
	sums->blocked_ns += fault->blocked_ns;
	if (fault->blocked_ns)
		sp_emit(t, SP_EV_off_core, sums->is_outside, start, ticks_of(fault->blocked_ns),
			is_swapped ? SP_NO_CORE_SWAP : SP_NO_CORE_WAITS);
}

static void settle_asked(struct sp_thread *t, const struct instant *now, struct sums *sums)
{
	uint64_t begin = sp_clock_ticks();
	uint32_t file;

	if (!sums->asked)
		return;
	sums->maps_reads_left--;
	sp_mapped_ask(t, sums->places, sums->asked);
	sp_own_work_end(t, begin);
	for (uint32_t i = 0; i < sums->asked; i++) {
		enum sp_mapping mapping = sp_mapped_find(&sums->places[i], &file);

		settle_fault(t, now, &sums->faults[i], mapping, file, sums);
	}
	sums->asked = 0;
}

static void take_fault(struct sp_thread *t, const struct instant *now,
		       const struct sp_off_core_time *fault, struct sums *sums)
{
	const struct sp_mapped_place place = {fault->address, ticks_at(now, fault->start_ns)};
	enum sp_mapping mapping;
	uint32_t file;

	sums->ready_ns += fault->ready_ns;
	if (!fault->is_major && fault->blocked_ns < FAULT_NS_LEAST) {
		sums->blocked_ns += fault->blocked_ns;
		return;
	}
	mapping = sp_mapped_find(&place, &file);
	if (mapping != SP_MAPPING_ASK || !sums->maps_reads_left) {
		settle_fault(t, now, fault, mapping, file, sums);
		return;
	}
	sums->places[sums->asked] = place;
	sums->faults[sums->asked++] = *fault;
	if (sums->asked == ASKED)
		settle_asked(t, now, sums);
}

static void take_time(struct sp_thread *t, const struct instant *now,
		      const struct sp_off_core_time *time, struct sums *sums)
{
	uint64_t ns = time->end_ns - time->start_ns;
	bool is_ready = time->what == SP_OFF_CORE_READY;
	enum sp_no_core why = is_ready ? SP_NO_CORE_PREEMPTED : SP_NO_CORE_WAITS;

	if (time->what == SP_OFF_CORE_PAGE) {
		take_fault(t, now, time, sums);
		return;
	}
	*(is_ready ? &sums->ready_ns : &sums->blocked_ns) += ns;
	if (ns < (is_ready ? READY_NS_LEAST : sums->is_outside ? OUTSIDE_NS_LEAST : 0))
		return;
	if (!is_ready && sp_own_work_has(t, ticks_at(now, time->start_ns + ns / 2)))
		why = SP_NO_CORE_RECORDER;
	sp_emit(t, SP_EV_off_core, sums->is_outside, ticks_at(now, time->start_ns), ticks_of(ns),
		why);
}

static void take_all(struct sp_thread *t, struct sums *sums)
{
	struct sp_recorder *r = sp_recorder_of(t);
	const struct instant now = {sp_clock_ns(CLOCK_MONOTONIC), sp_clock_ticks()};
	struct sp_off_core_time time;
	bool is_more;

	sums->lost = sp_perf_ring_take_begin(&r->perf);
	do {
		is_more = sp_perf_ring_next(&r->perf, &time);
		sums->lost += time.lost;
		if (is_more)
			take_time(t, &now, &time, sums);
	} while (is_more);
	settle_asked(t, &now, sums);
}

static bool are_many(uint64_t faults, uint64_t ticks)
{
	return faults > FAULTS_FEW &&
	       faults * 1000000000u / FAULTS_RATE_MOST > sp_clock_span_ns(ticks);
}

/* Takes what was observed since the last time. */
static void take_part(struct sp_thread *t, uint64_t end, bool is_outside)
{
	struct sp_recorder *r = sp_recorder_of(t);
	uint32_t flags =
		(r->perf.has_faults ? SP_WAITS_FAULTS : 0) | (is_outside ? SP_WAITS_OUTSIDE : 0);
	struct sums sums;
	unsigned long before;

	sums.is_outside = is_outside;
	sums.page_blocked_ns = sums.blocked_ns = sums.ready_ns = 0;
	sums.maps_reads_left = is_outside ? 0 : MAPS_READS;
	sums.asked = 0;
	before = sp_signals_block();
	take_all(t, &sums);
	sp_signals_restore(before);
	sp_emit_extra(t, SP_EV_waits, flags, end, 0, (int64_t)sums.lost,
		      (const uint64_t[3]){sums.page_blocked_ns, sums.blocked_ns, sums.ready_ns});
}

void sp_waits_begin(struct sp_thread *t)
{
	struct sp_recorder *r = sp_recorder_of(t);
	bool faults = (sp_mapped_any() || !r->perf.is_open) && r->many_faults < MANY_IN_SUCCESSION;
	int kept = errno;

	if (is_off || r->perf_is_refused || sp_process_is_frozen())
		return;
	if (sp_perf_ring_holds(&r->perf))
		take_part(t, sp_clock_ticks(), true);
	if (!r->perf.is_open || r->perf.has_faults != faults)
		ring_open(r, faults);
	errno = kept;
}

void sp_waits_end(struct sp_thread *t, uint64_t start, uint64_t end, uint64_t faults)
{
	struct sp_recorder *r = sp_recorder_of(t);
	int kept = errno;

	if (!r->perf.is_open || sp_process_is_frozen())
		return;
	take_part(t, end, false);
	if (r->perf.has_faults && sp_mapped_any())
		r->many_faults = are_many(faults, end - start) ? r->many_faults + 1 : 0;
	errno = kept;
}

void sp_waits_step(struct sp_thread *t, uint64_t now)
{
	struct sp_recorder *r = sp_recorder_of(t);

	r->next_waits_ticks = now + sp_recorder_clock.ticks_per_second / STEP_FRACTION;
	if (sp_perf_ring_holds(&r->perf))
		take_part(t, now, true);
	else if (!r->perf.is_open && !is_off && !r->perf_is_refused)
		ring_open(r, false);
}
