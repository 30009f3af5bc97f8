/* SPDX-License-Identifier: Apache-2.0 */
/* Times off the core, of records as the kernel writes them into the rings. */
#include <check.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/sys/perf_ring.h"
#include "tests/unit/common/suite.h"

enum { PAGE_BYTES = 4096, BLOCKED = 0, PREEMPTED = PERF_RECORD_MISC_SWITCH_OUT_PREEMPT };

static const uint32_t data_bytes[SP_PERF_EVENTS] = {
	[SP_PERF_BEGINS] = 8 * PAGE_BYTES,
	[SP_PERF_MAJORS] = 2 * PAGE_BYTES,
	[SP_PERF_MINORS] = 4 * PAGE_BYTES,
};

static struct sp_perf_ring ring;
static struct sp_off_core_time found;

static void setup(void)
{
	memset(&ring, 0, sizeof(ring));
	for (int event = SP_PERF_BEGINS; event < SP_PERF_EVENTS; event++) {
		ring.pages[event] =
			mmap(NULL, PAGE_BYTES + data_bytes[event], PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(ring.pages[event], MAP_FAILED);
	}
	ring.is_open = ring.has_faults = true;
}

static void teardown(void)
{
	sp_perf_ring_close(&ring);
}

static void put(enum sp_perf_event event, uint32_t type, uint32_t misc, const uint64_t *words,
		uint32_t count)
{
	struct perf_event_mmap_page *page = ring.pages[event];
	uint8_t *data = (uint8_t *)page + PAGE_BYTES;
	struct perf_event_header header = {type, (uint16_t)misc, (uint16_t)(8 + 8 * count)};

	memcpy(data + page->data_head % data_bytes[event], &header, 8);
	for (uint32_t i = 0; i < count; i++)
		memcpy(data + (page->data_head + 8 + 8 * i) % data_bytes[event], &words[i], 8);
	page->data_head += header.size;
}

static void begin_put(uint64_t ns, uint64_t address)
{
	put(SP_PERF_BEGINS, PERF_RECORD_SAMPLE, 0, (const uint64_t[]){ns, address}, 2);
}

static void end_put(enum sp_perf_event event, uint64_t ns)
{
	put(event, PERF_RECORD_SAMPLE, 0, &ns, 1);
}

static void off_put(uint32_t why, uint64_t out_ns, uint64_t in_ns)
{
	put(SP_PERF_BEGINS, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | why, &out_ns, 1);
	put(SP_PERF_BEGINS, PERF_RECORD_SWITCH, 0, &in_ns, 1);
}

static void lost_put(uint64_t ns, uint64_t lost)
{
	put(SP_PERF_BEGINS, PERF_RECORD_LOST, 0, (const uint64_t[]){7, lost, ns}, 3);
}

static void next_is(enum sp_off_core what, uint64_t start_ns, uint64_t end_ns)
{
	ck_assert_int_eq(sp_perf_ring_next(&ring, &found), what != SP_OFF_CORE_NONE);
	ck_assert_int_eq(found.what, what);
	ck_assert_uint_eq(found.start_ns, start_ns);
	ck_assert_uint_eq(found.end_ns, end_ns);
}

START_TEST(switches_belong_to_the_fault_that_is_open)
{
	off_put(BLOCKED, 10, 20);
	begin_put(100, 0x1000);
	off_put(BLOCKED, 110, 150);
	off_put(PREEMPTED, 151, 154);
	end_put(SP_PERF_MAJORS, 160);
	begin_put(170, 0x2000);
	end_put(SP_PERF_MINORS, 171);
	off_put(PREEMPTED, 200, 230);
	next_is(SP_OFF_CORE_BLOCKED, 10, 20);
	next_is(SP_OFF_CORE_PAGE, 100, 160);
	ck_assert(found.is_major);
	ck_assert_uint_eq(found.address, 0x1000);
	ck_assert_uint_eq(found.blocked_ns, 40);
	ck_assert_uint_eq(found.ready_ns, 3);
	next_is(SP_OFF_CORE_PAGE, 170, 171);
	ck_assert(!found.is_major);
	ck_assert_uint_eq(found.address, 0x2000);
	ck_assert_uint_eq(found.blocked_ns, 0);
	next_is(SP_OFF_CORE_READY, 200, 230);
	next_is(SP_OFF_CORE_NONE, 0, 0);
}
END_TEST

START_TEST(records_lie_across_the_end_of_a_ring)
{
	for (uint64_t ns = 1; ns < 20000; ns += 4) {
		begin_put(ns, ns << 12);
		end_put(SP_PERF_MINORS, ns + 2);
		next_is(SP_OFF_CORE_PAGE, ns, ns + 2);
		ck_assert_uint_eq(found.address, ns << 12);
	}
	next_is(SP_OFF_CORE_NONE, 0, 0);
}
END_TEST

START_TEST(what_was_open_is_forgotten_when_records_are_lost)
{
	uint64_t in_ns = 30;

	put(SP_PERF_BEGINS, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, &(uint64_t){10}, 1);
	lost_put(20, 5);
	put(SP_PERF_BEGINS, PERF_RECORD_SWITCH, 0, &in_ns, 1);
	begin_put(40, 0x1000);
	lost_put(50, 2);
	end_put(SP_PERF_MINORS, 60);
	next_is(SP_OFF_CORE_NONE, 0, 0);
	ck_assert_uint_eq(found.lost, 7);
	lost_put(70, 3);
	off_put(BLOCKED, 80, 90);
	next_is(SP_OFF_CORE_BLOCKED, 80, 90);
	ck_assert_uint_eq(found.lost, 3);
}
END_TEST

START_TEST(a_ring_without_room_is_full)
{
	uint32_t records = data_bytes[SP_PERF_MAJORS] / 16;

	for (uint32_t i = 0; i < records - 4; i++)
		end_put(SP_PERF_MAJORS, i + 1);
	ck_assert(!sp_perf_ring_take_begin(&ring));
	end_put(SP_PERF_MAJORS, records);
	ck_assert(sp_perf_ring_take_begin(&ring));
	ck_assert(sp_perf_ring_holds(&ring));
	next_is(SP_OFF_CORE_NONE, 0, 0);
	ck_assert(!sp_perf_ring_holds(&ring));
	lost_put(70, 3); /* what the full ring has said */
	ck_assert(!sp_perf_ring_take_begin(&ring));
	next_is(SP_OFF_CORE_NONE, 0, 0);
	ck_assert_uint_eq(found.lost, 0);
	lost_put(80, 3);
	ck_assert(!sp_perf_ring_take_begin(&ring));
	next_is(SP_OFF_CORE_NONE, 0, 0);
	ck_assert_uint_eq(found.lost, 3);
}
END_TEST

/* Takes the place of the kernel at the first look at this ring: a fault of the reader itself. */
static void fault_put(int number)
{
	(void)number;
	mprotect(ring.pages[SP_PERF_MAJORS], PAGE_BYTES, PROT_READ | PROT_WRITE);
	begin_put(100, 0x1000);
	end_put(SP_PERF_MINORS, 130);
}

START_TEST(a_fault_between_two_looks_has_its_begin)
{
	struct sigaction action = {.sa_handler = fault_put};

	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	ck_assert_int_eq(mprotect(ring.pages[SP_PERF_MAJORS], PAGE_BYTES, PROT_NONE), 0);
	next_is(SP_OFF_CORE_PAGE, 100, 130);
	off_put(BLOCKED, 200, 230);
	next_is(SP_OFF_CORE_BLOCKED, 200, 230);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_ring");
	TCase *t = tcase_create("perf_ring");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, switches_belong_to_the_fault_that_is_open);
	tcase_add_test(t, records_lie_across_the_end_of_a_ring);
	tcase_add_test(t, what_was_open_is_forgotten_when_records_are_lost);
	tcase_add_test(t, a_ring_without_room_is_full);
	tcase_add_test(t, a_fault_between_two_looks_has_its_begin);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
