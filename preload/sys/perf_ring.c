/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/perf_ring.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

#define PAGE_BYTES 4096u

/* A record has 16 bytes, the begin of a fault 24. */
static const struct {
	uint64_t config, sample;
	uint32_t bytes; /* of the ring, a power of two */
	bool has_switches;
} events[] = {
	[SP_PERF_SWITCHES] = {PERF_COUNT_SW_DUMMY, PERF_SAMPLE_TIME, 4 * PAGE_BYTES, true},
	[SP_PERF_BEGINS] = {PERF_COUNT_SW_PAGE_FAULTS, PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
			    8 * PAGE_BYTES, true},
	[SP_PERF_MAJORS] = {PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_SAMPLE_TIME, 2 * PAGE_BYTES, false},
	[SP_PERF_MINORS] = {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_SAMPLE_TIME, 4 * PAGE_BYTES, false},
};

static long event_open(uint32_t tid, enum sp_perf_event event)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = PERF_ATTR_SIZE_VER5; /* as Linux 4.1 knows it */
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = events[event].config;
	attr.sample_period = 1;
	attr.sample_type = events[event].sample;
	attr.exclude_kernel = 1; /* what needs no rights */
	attr.exclude_hv = 1;
	attr.watermark = 1; /* nobody is woken */
	attr.wakeup_watermark = 1u << 30;
	attr.context_switch = events[event].has_switches;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	return SP_SYS5(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* An event that wrote into another's ring would die with its descriptor. */
static int event_map(struct sp_perf_ring *ring, uint32_t tid, enum sp_perf_event event)
{
	long fd = event_open(tid, event), pages;

	if (fd < 0)
		return (int)fd;
	pages = sp_pages_of_file(PAGE_BYTES + events[event].bytes, MAP_SHARED, fd, 0);
	SP_SYS1(SYS_close, fd);
	if (sp_sys_failed(pages))
		return (int)pages;
	ring->pages[event] = (void *)pages;
	return 0;
}

/* The begin of a fault is recorded last, so that each that is has an end. */
int sp_perf_ring_open(struct sp_perf_ring *ring, uint32_t tid, bool faults)
{
	static const enum sp_perf_event of_faults[] = {SP_PERF_MINORS, SP_PERF_MAJORS,
						       SP_PERF_BEGINS};
	int ret = 0;

	memset(ring, 0, sizeof(*ring));
	for (uint32_t i = 0; faults && ret == 0 && i < SP_PERF_EVENTS - 1; i++)
		ret = event_map(ring, tid, of_faults[i]);
	if (!faults)
		ret = event_map(ring, tid, SP_PERF_SWITCHES);
	if (ret)
		sp_perf_ring_close(ring);
	ring->is_open = ret == 0;
	ring->has_faults = ret == 0 && faults;
	return ret;
}

void sp_perf_ring_close(struct sp_perf_ring *ring)
{
	for (int i = 0; i < SP_PERF_EVENTS; i++)
		sp_pages_free(ring->pages[i], PAGE_BYTES + events[i].bytes);
	memset(ring, 0, sizeof(*ring));
}

static uint64_t word_at(const struct sp_perf_ring *ring, enum sp_perf_event event, uint64_t at)
{
	const uint8_t *data = (const uint8_t *)ring->pages[event] + PAGE_BYTES;

	return *(const uint64_t *)(const void *)(data + (at & (events[event].bytes - 1)));
}

/* The first record of one ring. */
struct first_record {
	enum sp_perf_event event;
	struct perf_event_header header;
	uint64_t ns, word; /* word: the address, or the number that was lost */
};

static bool first_of(const struct sp_perf_ring *ring, enum sp_perf_event event,
		     struct first_record *ret)
{
	struct perf_event_mmap_page *page = ring->pages[event];
	uint64_t tail, head, word;

	if (!page)
		return false;
	tail = page->data_tail;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	if (tail == head)
		return false;
	word = word_at(ring, event, tail);
	ret->event = event;
	memcpy(&ret->header, &word, sizeof(ret->header));
	if (ret->header.size < 16 || ret->header.size > head - tail) { /* not the kernel's */
		__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
		return false;
	}
	ret->ns = word_at(ring, event, tail + 8);
	ret->word = ret->header.size >= 24 ? word_at(ring, event, tail + 16) : 0;
	/* PERF_RECORD_LOST: an id, the number, and then the time. */
	if (ret->header.type == PERF_RECORD_LOST)
		ret->ns = word_at(ring, event, tail + 24);
	return true;
}

/* Takes the record of all rings that comes first. The ring of begins is looked at after those of
 * ends: a fault in between may be seen without its end, which follows, but never the end alone. */
static bool take_first(struct sp_perf_ring *ring, struct first_record *ret)
{
	struct perf_event_mmap_page *page;
	struct first_record one = {.event = SP_PERF_EVENTS};
	bool is_found = false;

	for (int event = SP_PERF_EVENTS - 1; event >= 0; event--)
		if (first_of(ring, (enum sp_perf_event)event, &one) &&
		    (!is_found || one.ns <= ret->ns)) {
			*ret = one;
			is_found = true;
		}
	if (!is_found)
		return false;
	page = ring->pages[ret->event];
	__atomic_store_n(&page->data_tail, page->data_tail + ret->header.size, __ATOMIC_RELEASE);
	return true;
}

/* A fault that ends in a signal has no end, and counts for nothing. */
static void fault_begin(struct sp_perf_ring *ring, uint64_t ns, uint64_t address)
{
	ring->fault_ns = ns;
	ring->address = address;
	ring->fault_blocked_ns = ring->fault_ready_ns = 0;
}

static void fault_end(struct sp_perf_ring *ring, uint64_t ns, bool is_major,
		      struct sp_off_core_time *ret)
{
	if (!ring->fault_ns)
		return;
	*ret = (struct sp_off_core_time){.what = SP_OFF_CORE_PAGE,
					 .start_ns = ring->fault_ns,
					 .end_ns = ns,
					 .is_major = is_major,
					 .address = ring->address,
					 .blocked_ns = ring->fault_blocked_ns,
					 .ready_ns = ring->fault_ready_ns,
					 .lost = ret->lost};
	ring->fault_ns = 0;
}

static void switch_in(struct sp_perf_ring *ring, uint64_t ns, struct sp_off_core_time *ret)
{
	uint64_t out_ns = ring->out_ns;

	ring->out_ns = 0;
	if (!out_ns)
		return;
	if (ring->fault_ns) {
		*(ring->is_preempted ? &ring->fault_ready_ns : &ring->fault_blocked_ns) +=
			ns - out_ns;
		return;
	}
	ret->what = ring->is_preempted ? SP_OFF_CORE_READY : SP_OFF_CORE_BLOCKED;
	ret->start_ns = out_ns;
	ret->end_ns = ns;
}

static void take_switch(struct sp_perf_ring *ring, uint16_t misc, uint64_t ns,
			struct sp_off_core_time *ret)
{
	if (!(misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		switch_in(ring, ns, ret);
		return;
	}
	ring->out_ns = ns;
	ring->is_preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
}

static void take_sample(struct sp_perf_ring *ring, const struct first_record *record,
			struct sp_off_core_time *ret)
{
	if (record->event == SP_PERF_BEGINS)
		fault_begin(ring, record->ns, record->word);
	else if (record->event != SP_PERF_SWITCHES)
		fault_end(ring, record->ns, record->event == SP_PERF_MAJORS, ret);
}

/* Nobody knows what was open when records were lost. */
static void take_lost(struct sp_perf_ring *ring, uint64_t lost, struct sp_off_core_time *ret)
{
	ret->lost += ring->was_full ? 0 : lost;
	ring->out_ns = ring->fault_ns = 0;
}

bool sp_perf_ring_next(struct sp_perf_ring *ring, struct sp_off_core_time *ret)
{
	struct first_record record = {.event = SP_PERF_EVENTS};

	*ret = (struct sp_off_core_time){.what = SP_OFF_CORE_NONE};
	while (ret->what == SP_OFF_CORE_NONE && take_first(ring, &record)) {
		if (record.header.type == PERF_RECORD_SAMPLE)
			take_sample(ring, &record, ret);
		else if (record.header.type == PERF_RECORD_SWITCH)
			take_switch(ring, record.header.misc, record.ns, ret);
		else if (record.header.type == PERF_RECORD_LOST)
			take_lost(ring, record.word, ret);
	}
	return ret->what != SP_OFF_CORE_NONE;
}

static uint64_t bytes_held(const struct sp_perf_ring *ring, int event)
{
	const struct perf_event_mmap_page *page = ring->pages[event];

	return page ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - page->data_tail : 0;
}

/* A ring that is full says what it lost with the first record that finds room again. */
bool sp_perf_ring_take_begin(struct sp_perf_ring *ring)
{
	ring->was_full = ring->is_full;
	ring->is_full = false;
	for (int event = 0; event < SP_PERF_EVENTS; event++)
		ring->is_full |= bytes_held(ring, event) > events[event].bytes - 64;
	return ring->is_full;
}

bool sp_perf_ring_holds(const struct sp_perf_ring *ring)
{
	uint64_t bytes = 0;

	for (int event = 0; event < SP_PERF_EVENTS; event++)
		bytes |= bytes_held(ring, event);
	return bytes != 0;
}
