/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots by kind: from a payload and from the slots that it decodes to they are the same, damaged or
 * not.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/draw.h"
#include "tests/unit/common/suite.h"
#include "trace/columns.h"

#define N 256u

static uint64_t state = 0x9E3779B97F4A7C15;

static uint64_t draw(void)
{
	return sp_draw(&state);
}

static uint64_t any_size(void)
{
	return draw() >> (draw() & 63);
}

static struct sp_slot ring[N], back[N];
static struct sp_columns direct, taken;
static uint8_t payload[1 << 16];
static size_t bytes;

static void commit(struct sp_slot *s, uint32_t kind, uint32_t arg)
{
	s->commit =
		sp_commit_make(s->start, s->ticks, (uint64_t)s->value, sp_what_make(kind, arg), 0);
}

/* The same call again, as in a loop. */
static void repeat(struct sp_slot *s)
{
	s->value = s[-1].value;
	commit(s, sp_commit_kind(s[-1].commit), sp_commit_arg(s[-1].commit));
}

/* Few kinds, so that tokens have one byte, or many. */
static void fill(uint32_t kinds)
{
	struct sp_payload_metadata facts;
	uint64_t now = draw() >> 8;

	for (uint32_t i = 0; i < N; i++) {
		struct sp_slot *s = &ring[i];
		uint64_t sort = draw() % 16;

		*s = (struct sp_slot){now, any_size() >> 20,
				      draw() & 1 ? -(int64_t)any_size() : 4096, 0};
		now += s->ticks + draw() % 100;
		if (i && draw() & 1 && sp_commit_kind(s[-1].commit) < SP_KIND_DEFINE)
			repeat(s);
		else if (sort == 0)
			commit(s, SP_KIND_BLOB, draw() % (SP_SLOT_BLOB_BYTES + 1));
		else if (sort == 1)
			commit(s, SP_KIND_DEFINE + draw() % 8, (uint32_t)any_size());
		else if (sort < 4)
			commit(s, SP_KIND_EXTRA, 0);
		else if (sort > 4)
			commit(s, 1 + draw() % kinds, draw() & 3 ? 7 : (uint32_t)any_size());
	}
	bytes = sp_payload_encode(payload, ring, N, 0, N, draw() & 1 ? 1 : 25, &facts);
}

static const struct sp_column_kind *find(const struct sp_columns *c, uint32_t kind)
{
	for (uint32_t i = 0; i < c->kind_count; i++)
		if (c->kinds[i].kind == kind)
			return &c->kinds[i];
	return NULL;
}

/* The place in `direct` of what lies at `at` in `taken`, whose kinds are events alone. */
static uint32_t place_in_direct(uint32_t at)
{
	for (uint32_t i = 0; at < SP_COLUMNS_BEFORE && i < taken.kind_count; i++)
		if (at >= taken.kinds[i].first && at < taken.kinds[i].limit)
			return find(&direct, taken.kinds[i].kind)->first + at -
			       taken.kinds[i].first;
	return at;
}

static bool is_same_kind(const struct sp_column_kind *a, const struct sp_column_kind *b)
{
	uint32_t n = a->limit - a->first;
	bool same;

	if (!b || b->limit - b->first != n)
		return false;
	same = memcmp(&direct.values[b->first], &taken.values[a->first], n * sizeof(int64_t)) ==
		       0 &&
	       memcmp(&direct.args[b->first], &taken.args[a->first], n * sizeof(uint32_t)) == 0;
	for (uint32_t i = 0; i < n; i++) {
		same &= (uint64_t)direct.ticks[b->first + i] * direct.grain ==
			(uint64_t)taken.ticks[a->first + i];
		same &= !direct.has_starts ||
			direct.starts[b->first + i] == taken.starts[a->first + i];
	}
	return same;
}

static bool is_definition_in_direct(uint32_t at)
{
	for (uint32_t i = 0; i < direct.kind_count; i++)
		if (at >= direct.kinds[i].first && at < direct.kinds[i].limit)
			return direct.kinds[i].kind >= SP_KIND_DEFINE;
	return false;
}

/* A definition is a place where columns come from a payload,
 * and none where they come from slots. */
static bool is_same_place(uint32_t in_direct, uint32_t in_taken)
{
	if (in_direct < SP_COLUMNS_BEFORE && is_definition_in_direct(in_direct))
		return in_taken == SP_COLUMNS_NONE;
	return in_direct == place_in_direct(in_taken);
}

static bool are_same_extras(void)
{
	bool same = direct.extra_count == taken.extra_count;

	for (uint32_t i = 0; same && i < taken.extra_count; i++) {
		for (unsigned word = 0; word < 3; word++)
			same &= direct.extras[word][i] == taken.extras[word][i];
		same &= is_same_place(direct.owners[i], taken.owners[i]);
	}
	return same;
}

static void assert_same(void)
{
	uint32_t events = 0, in_direct = 0;

	for (uint32_t i = 0; i < taken.kind_count; i++) {
		const struct sp_column_kind *kind = &taken.kinds[i];

		if (!is_same_kind(kind, find(&direct, kind->kind)))
			ck_abort_msg("kind %u differs", kind->kind);
		events += kind->limit - kind->first;
	}
	for (uint32_t i = 0; i < direct.kind_count; i++)
		if (direct.kinds[i].kind < SP_KIND_DEFINE)
			in_direct += direct.kinds[i].limit - direct.kinds[i].first;
	ck_assert_uint_eq(in_direct, events);
	ck_assert_uint_eq(direct.holes, taken.holes);
	ck_assert(are_same_extras());
	ck_assert(is_same_place(direct.last, taken.last));
	ck_assert(!direct.has_starts || direct.end_ticks == taken.end_ticks);
}

/* No encoder lists a kind twice; where damage does, the sums over both are right, but they are not
 * one. */
static bool has_kind_twice(void)
{
	for (uint32_t i = 0; i < direct.kind_count; i++)
		if (find(&direct, direct.kinds[i].kind) != &direct.kinds[i])
			return true;
	return false;
}

/* Returns whether the payload was taken. */
static bool check_both(uint32_t starts_of, const uint8_t *at, size_t n)
{
	int slots = sp_payload_decode(back, N, at, n),
	    columns = sp_payload_columns(&direct, starts_of, N, at, n);

	ck_assert_int_eq(columns, slots);
	if (columns < 0)
		return false;
	sp_columns_take(&taken, back, N);
	if (!has_kind_twice())
		assert_same();
	return true;
}

START_TEST(columns_are_those_of_the_slots)
{
	for (int i = 0; i < 400; i++) {
		fill(i % 2 ? 5 : 1000);
		ck_assert(check_both(i % 3 ? SP_COLUMNS_ALL : 3, payload, bytes));
		ck_assert_int_eq(direct.has_starts, i % 3 || find(&direct, 3));
	}
}
END_TEST

START_TEST(the_same_payloads_are_refused)
{
	int refused = 0;

	for (int i = 0; i < 5000; i++) {
		uint8_t *copy;

		if (i % 16 == 0)
			fill(i % 32 ? 5 : 1000);
		copy = malloc(bytes);
		memcpy(copy, payload, bytes);
		copy[draw() % bytes] ^= (uint8_t)(1 << draw() % 8);
		/* where checks are */
		if (i % 4 == 0)
			copy[SP_PAYLOAD_HEAD_BYTES + draw() % 16] = (uint8_t)draw();
		refused += !check_both(i % 2 ? SP_COLUMNS_ALL : 3, copy, bytes);
		free(copy);
	}
	ck_assert_int_gt(refused, 500);
	ck_assert_int_lt(refused, 4500);
}
END_TEST

START_TEST(another_coding_is_refused)
{
	struct sp_payload_head head;

	fill(5);
	memcpy(&head, payload, sizeof(head));
	head.coding = 0;
	memcpy(payload, &head, sizeof(head));
	ck_assert(!check_both(SP_COLUMNS_ALL, payload, bytes));
}
END_TEST

/* A time range keeps the slots that begin in it. */
START_TEST(events_of_a_time_are_kept)
{
	static struct sp_slot kept[N];

	for (int i = 0; i < 200; i++) {
		uint64_t from, to;
		uint32_t n = 0;

		fill(5);
		ck_assert_int_eq(sp_payload_decode(back, N, payload, bytes), 0);
		from = back[draw() % N].start;
		to = from + any_size();
		for (uint32_t k = 0; k < N; k++) {
			uint32_t kind = sp_commit_kind(back[k].commit);

			if (kind && kind < SP_KIND_DEFINE && back[k].start >= from &&
			    back[k].start < to)
				kept[n++] = back[k];
		}
		ck_assert_int_eq(sp_payload_columns(&direct, SP_COLUMNS_ALL, N, payload, bytes), 0);
		direct.extra_count = direct.holes = 0;
		sp_columns_keep(&direct, from, to);
		sp_columns_take(&taken, kept, n);
		direct.last = taken.last = SP_COLUMNS_NONE;
		for (uint32_t k = 0; k < taken.kind_count; k++)
			ck_assert(
				is_same_kind(&taken.kinds[k], find(&direct, taken.kinds[k].kind)));
		ck_assert_uint_eq(direct.end_ticks, taken.end_ticks);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("columns");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, columns_are_those_of_the_slots);
	tcase_add_test(tests, the_same_payloads_are_refused);
	tcase_add_test(tests, another_coding_is_refused);
	tcase_add_test(tests, events_of_a_time_are_kept);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
