/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any events, in blocks and a window cut anywhere, add up to what they come to one by one; one tick
 * is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metadata/stage.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

static char folder[64];
static struct sp_maker m;
static struct sp_load load;

static struct {
	struct sp_sums stages[SP_STAGES];
	uint64_t unknown, lines, pixels;
	uint64_t from_ticks, to_ticks, end_ticks;
} expected;

static uint64_t state = 0x8A5CD789635D2DFF;

static uint64_t draw(void)
{
	return sp_draw(&state);
}

static uint64_t any_ticks(void)
{
	return draw() >> 20 >> draw() % 44;
}

/* NULL where the event, which was just made, is not in the selected time. */
static struct sp_sums *expect(enum sp_stage stage, uint64_t start, uint64_t ns)
{
	struct sp_sums *s = &expected.stages[stage];

	if (start < expected.from_ticks || start >= expected.to_ticks)
		return NULL;
	s->calls++;
	s->total_ns += ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	expected.end_ticks = m.now_ticks;
	return s;
}

/* A block may end anywhere, before an EXTRA slot too. */
static void cut(void)
{
	if (draw() % 64 == 0 || m.slot_count > 4000)
		sp_maker_block(&m, 0);
}

static void add_image(void)
{
	static const uint32_t kinds[] = {SP_EV_jpeg_decode, SP_EV_png_decode};
	uint32_t kind = kinds[draw() % 2], end = draw() % 8 == 0;
	uint64_t inside = any_ticks(), ticks = inside + 5, start = m.now_ticks + 10;
	int64_t value = draw() % 8 ? 480 : SP_VALUE_ABANDONED;
	bool has_extra = draw() % 4, aborted = value == SP_VALUE_ABANDONED || (has_extra && end);
	struct sp_sums *s;

	sp_maker_event(&m, kind, 0, ticks, value);
	cut();
	if (has_extra)
		sp_maker_extra(&m, inside, UINT64_C(640) << 32 | 480, end);
	s = expect(sp_stage_of(kind, SP_FD_KIND_UNKNOWN), start, has_extra ? inside : ticks);
	if (!s)
		return;
	s->aborted += aborted;
	if (!aborted && has_extra && kind == SP_EV_jpeg_decode) {
		expected.lines += 480;
		expected.pixels += 640 * 480;
	}
}

/* With its EXTRA slot or without; those words are not for sums. */
static void add_call(void)
{
	static const uint32_t kinds[] = {SP_EV_read, SP_EV_read,  SP_EV_read,	     SP_EV_write,
					 SP_EV_open, SP_EV_close, SP_EV_python_call, SP_EV_mmap};
	static const enum sp_file_type types[] = {SP_FILE_REGULAR,   SP_FILE_REGULAR,
						  SP_FILE_REGULAR,   SP_FILE_PIPE,
						  SP_FILE_CHARACTER, SP_FILE_UNKNOWN};
	uint32_t kind = kinds[draw() % 8],
		 arg = (uint32_t)types[draw() % 6] << SP_FILE_TYPE_SHIFT | (draw() & 3);
	const struct sp_event_info *info = sp_event_info(kind);
	bool has_bytes = info->value == SP_VALUE_BYTES || info->value == SP_VALUE_LENGTH;
	enum sp_fd_kind place =
		info->arg == SP_ARG_FILE ? sp_fd_kind_of_id(arg) : SP_FD_KIND_UNKNOWN;
	uint64_t ticks = any_ticks(), start = m.now_ticks + 10;
	int64_t value = draw() % 8   ? (int64_t)(draw() % 3 * 4096)
			: draw() % 2 ? -5
				     : SP_VALUE_ABANDONED;
	struct sp_sums *s;

	sp_maker_event(&m, kind, arg, ticks, value);
	if (kind == SP_EV_python_call && draw() % 2)
		sp_maker_extra(&m, 1, 2, 3);
	s = expect(sp_stage_of(kind, place), start, ticks);
	if (!s)
		return;
	s->errors += value < 0 && value != SP_VALUE_ABANDONED;
	s->aborted += value == SP_VALUE_ABANDONED;
	s->bytes += has_bytes && value > 0 ? (uint64_t)value : 0;
}

static void add_other(void)
{
	uint64_t ticks = any_ticks(), start = m.now_ticks + 10;

	if (draw() % 2) {
		sp_maker_event(&m, SP_EV_memory, 0, ticks, 4096);
		expect(SP_STAGE_memory, start, 0);
		return;
	}
	sp_maker_event(&m, 999, 0, ticks, -1);
	expected.unknown += expect(SP_STAGE_other, start, ticks) != NULL;
}

static void add_any(void)
{
	uint64_t sort = draw() % 32;

	if (sort < 4)
		add_image();
	else if (sort == 4)
		add_other();
	else if (sort == 5)
		sp_maker_define(&m, SP_DEFINE_THREAD, 0, "a name", 6);
	else
		add_call();
}

/* Makes and reads a run; events count that begin in [from, to) after its begin. */
static void check_run(int64_t from_ns, int64_t to_ns)
{
	struct sp_selection selection = {0, 0, from_ns, to_ns};
	const char *const paths[] = {folder, NULL};

	sp_folder_make(folder);
	sp_maker_init(&m, 10, 10, 0);
	memset(&expected, 0, sizeof(expected));
	expected.from_ticks = from_ns == INT64_MIN ? 0 : m.now_ticks + (uint64_t)from_ns;
	expected.to_ticks = to_ns == INT64_MAX ? UINT64_MAX : m.now_ticks + (uint64_t)to_ns;
	sp_maker_header(&m);
	for (int i = 0; i < 2000; i++) {
		add_any();
		cut();
	}
	sp_maker_window(&m, SP_WINDOW_SLOTS_MAX);
	ck_assert_int_eq(sp_maker_write(folder, "a.zst", m.bytes, m.size), 0);
	sp_maker_finish(&m);
	sp_load(&load, paths, 1, &selection);
	for (int i = 0; i < SP_STAGES; i++)
		if (memcmp(&load.report.totals.stages[i], &expected.stages[i],
			   sizeof(struct sp_sums)) != 0)
			ck_abort_msg("sums of %s", sp_stage_name((enum sp_stage)i));
	ck_assert_uint_eq(load.report.totals.unknown, expected.unknown);
	ck_assert_uint_eq(load.report.totals.lines, expected.lines);
	ck_assert_uint_eq(load.report.totals.pixels, expected.pixels);
	ck_assert_uint_eq(load.report.totals.streams[0].end_ticks, expected.end_ticks);
	ck_assert_uint_eq(load.report.totals.missing, 0);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

START_TEST(all_events)
{
	for (int i = 0; i < 20; i++)
		check_run(INT64_MIN, INT64_MAX);
}
END_TEST

START_TEST(events_of_a_time)
{
	for (int i = 0; i < 20; i++) {
		int64_t from_ns = (int64_t)(draw() >> 16);

		check_run(from_ns, i % 2 ? INT64_MAX : from_ns + (int64_t)(draw() >> 16));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, all_events);
	tcase_add_test(tests, events_of_a_time);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
