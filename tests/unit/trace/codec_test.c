/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/draw.h"
#include "tests/unit/common/stride.h"
#include "tests/unit/common/suite.h"
#include "trace/codec.h"
#include "trace/numbers.h"

#define N 256u

static uint64_t state = 0x2545F4914F6CDD1D;

static uint64_t draw(void)
{
	return sp_draw(&state);
}

static struct sp_slot ring[N], back[N];
static uint8_t payload[1 << 16], payload_again[1 << 16];

/* Any word, with every magnitude about as likely. */
static uint64_t any_size(void)
{
	return draw() >> (draw() & 63);
}

static void commit(struct sp_slot *s, uint32_t kind, uint32_t arg, uint64_t generation)
{
	s->commit = sp_commit_make(s->start, s->ticks, (uint64_t)s->value, sp_what_make(kind, arg),
				   generation);
}

/* True if the slot repeats the call before it, as in a loop. */
static bool is_again(uint64_t number)
{
	return draw() & 1 && sp_commit_kind(ring[(number - 1) % N].commit) < SP_KIND_DEFINE;
}

static void again(uint64_t number)
{
	const struct sp_slot *before = &ring[(number - 1) % N];
	struct sp_slot *s = &ring[number % N];

	s->value = before->value;
	commit(s, sp_commit_kind(before->commit), sp_commit_arg(before->commit), number / N);
}

static void fill_random(uint64_t first)
{
	for (uint64_t number = first; number < first + N; number++) {
		struct sp_slot *s = &ring[number % N];

		*s = (struct sp_slot){any_size(), any_size(), (int64_t)any_size(), 0};
		if (draw() & 1)
			s->value = -s->value;
		if (number > first && is_again(number)) {
			again(number);
			continue;
		}
		switch (draw() % 8) {
		case 0:
			commit(s, SP_KIND_EXTRA, 0, number / N);
			break;
		case 1:
			commit(s, SP_KIND_BLOB, draw() % (SP_SLOT_BLOB_BYTES + 1), number / N);
			break;
		case 2:
			commit(s, SP_KIND_DEFINE + draw() % 32, (uint32_t)any_size(), number / N);
			break;
		default:
			commit(s, 1 + draw() % 1000, (uint32_t)any_size(), number / N);
		}
	}
}

static void assert_same(const struct sp_slot *in, const struct sp_slot *out)
{
	uint32_t kind = sp_commit_kind(in->commit), arg = sp_commit_arg(in->commit);

	ck_assert_uint_eq(sp_commit_kind(out->commit), kind);
	if (kind == SP_KIND_BLOB) {
		ck_assert_uint_eq(sp_commit_arg(out->commit), arg);
		ck_assert_mem_eq(in, out, arg);
		return;
	}
	ck_assert_uint_eq(in->start, out->start);
	ck_assert_uint_eq(in->ticks, out->ticks);
	ck_assert_int_eq(in->value, out->value);
	if (kind != SP_KIND_EXTRA)
		ck_assert_uint_eq(sp_commit_arg(out->commit), arg);
}

/* To `payload`; by both encoders, where there are two. */
static size_t encode(uint64_t first, uint32_t grain, struct sp_payload_metadata *facts)
{
	size_t n = sp_payload_encode(payload, ring, N, first, N, grain, facts);

#ifdef SP_HAS_ENCODER_AVX2
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
		struct sp_payload_metadata again;

		ck_assert_uint_eq(sp_payload_encode_avx2(payload_again, ring, N, first, N, grain,
							 &again),
				  n);
		ck_assert_mem_eq(payload, payload_again, n);
		ck_assert_uint_eq(facts->packed_bytes, again.packed_bytes);
		ck_assert_uint_eq(facts->events, again.events);
		ck_assert_uint_eq(facts->definitions, again.definitions);
		ck_assert_uint_eq(facts->begin_ticks, again.begin_ticks);
		ck_assert_uint_eq(facts->end_ticks, again.end_ticks);
	}
#endif
	return n;
}

static void assert_round_trip(uint64_t first, uint32_t grain)
{
	struct sp_payload_metadata facts;
	size_t n = encode(first, grain, &facts);

	ck_assert_uint_le(n, SP_PAYLOAD_HEAD_BYTES + N * SP_SLOT_ENCODED_MAX);
	ck_assert_int_eq(sp_payload_decode(back, N, payload, n), 0);
	for (uint32_t i = 0; i < N; i++)
		assert_same(&ring[(first + i) % N], &back[i]);
}

/* The same where slots may be holes, and of what the encoder says of the events' times. */
static void assert_events_round_trip(uint64_t first, uint32_t grain)
{
	uint64_t begin = UINT64_MAX, end = 0;
	struct sp_payload_metadata facts;
	size_t n = encode(first, grain, &facts);

	ck_assert_int_eq(sp_payload_decode(back, N, payload, n), 0);
	for (uint32_t i = 0; i < N; i++) {
		const struct sp_slot *s = &ring[(first + i) % N];

		if (!s->commit) {
			ck_assert_uint_eq(sp_commit_kind(back[i].commit), SP_KIND_HOLE);
			continue;
		}
		assert_same(s, &back[i]);
		begin = s->start < begin ? s->start : begin;
		end = s->start + s->ticks > end ? s->start + s->ticks : end;
	}
	ck_assert_uint_eq(facts.begin_ticks, begin);
	ck_assert_uint_eq(facts.end_ticks, end);
}

START_TEST(random_slots_come_back)
{
	static const uint32_t grains[] = {1, 2, 3, 25, 1024, UINT32_MAX};

	for (int i = 0; i < 300; i++) {
		uint64_t first = any_size() >> 8;

		fill_random(first);
		assert_round_trip(first, grains[i % 6]);
	}
}
END_TEST

START_TEST(extremes_come_back)
{
	static const uint64_t words[] = {0,	    1, 127, 128, INT64_MAX, (uint64_t)INT64_MIN,
					 UINT64_MAX};

	for (uint32_t i = 0; i < N; i++) {
		ring[i] = (struct sp_slot){words[i % 7], words[i / 7 % 7],
					   (int64_t)words[i / 49 % 7], 0};
		commit(&ring[i], i % 2 ? 1 : 1023, i % 3 ? UINT32_MAX : 0, 0);
	}
	assert_round_trip(0, 1);
	assert_round_trip(0, 7);
}
END_TEST

/* Events one after the other, most of them alike, some of them open while others pass, some never
 * committed. */
static void fill_loop(uint64_t first, uint64_t start, uint32_t grain, uint64_t longest)
{
	for (uint64_t number = first; number < first + N; number++) {
		uint64_t ticks = draw() % longest * grain;
		struct sp_slot *s = &ring[number % N];

		*s = (struct sp_slot){start, ticks, draw() % 8 ? 4096 : 7, 0};
		commit(s, draw() % 16 ? 21 : 1 + draw() % 3, (uint32_t)(draw() % 4), number / N);
		start += draw() % 8 ? ticks + draw() % 64 * grain : 0;
		if (draw() % 64 == 0)
			s->commit = 0;
	}
}

/* The base is the first event's start: a call that was open before it comes later. */
static void fill_outer(uint64_t first, uint64_t start, uint64_t earlier)
{
	struct sp_slot *s = &ring[(first + N / 2) % N];

	s->start = start - earlier;
	commit(s, 21, 1, (first + N / 2) / N);
}

START_TEST(loops_of_events_come_back)
{
	static const uint64_t longest[] = {2, 100, 1 << 20, 1 << 27, UINT64_C(1) << 33};
	static const uint64_t earlier[] = {0, 64, UINT64_C(1) << 35, (UINT64_C(1) << 35) + 64};

	for (int i = 0; i < 1000 / SP_STRIDE; i++) {
		uint64_t first = any_size() >> 8,
			 start = (UINT64_C(1) << 40) + any_size() / 64 * 32;

		fill_loop(first, start, 32, longest[i % 5]);
		fill_outer(first, start, earlier[i / 5 % 4]);
		for (uint32_t k = 0; k < N; k++)
			memset(&back[k], 0, sizeof(back[k]));
		assert_events_round_trip(first, i % 7 ? 32 : 64);
	}
}
END_TEST

START_TEST(uncommitted_slots_become_holes)
{
	struct sp_payload_metadata facts;
	size_t n;

	fill_random(5 * N);
	ring[3].commit = 0;
	commit(&ring[4], 20, 0, 4); /* of the generation before */
	n = encode(5 * N, 1, &facts);
	ck_assert_int_eq(sp_payload_decode(back, N, payload, n), 0);
	ck_assert_uint_eq(sp_commit_kind(back[3].commit), SP_KIND_HOLE);
	ck_assert_uint_eq(sp_commit_kind(back[4].commit), SP_KIND_HOLE);
	assert_same(&ring[5], &back[5]);
}
END_TEST

START_TEST(a_shortened_or_longer_payload_is_refused)
{
	struct sp_payload_metadata facts;
	size_t n;

	fill_random(0);
	n = encode(0, 1, &facts);
	for (size_t cut = 0; cut < n; cut++)
		ck_assert_int_eq(sp_payload_decode(back, N, payload, cut), -EBADMSG);
	payload[n] = 0;
	ck_assert_int_eq(sp_payload_decode(back, N, payload, n + 1), -EBADMSG);
	ck_assert_int_eq(sp_payload_decode(back, N - 1, payload, n), -EBADMSG);
}
END_TEST

START_TEST(narrow_numbers_take_the_same_bytes)
{
	static uint8_t wide_bytes[8192], narrow_bytes[8192];
	int64_t wide[300];
	int32_t narrow[300];

	for (uint32_t n = 1; n <= 300; n++) {
		unsigned bits = (unsigned)(draw() % 32);
		uint8_t *end;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t x = (uint32_t)draw() >> (draw() % 16 ? 31 - bits : draw() % 32);

			wide[i] = narrow[i] = (int32_t)(draw() % 2 ? x : -x);
		}
		end = sp_numbers_pack(wide_bytes, wide, n);
		ck_assert_ptr_eq(sp_numbers_pack_narrow(narrow_bytes, narrow, n) - narrow_bytes +
					 wide_bytes,
				 end);
		ck_assert_mem_eq(wide_bytes, narrow_bytes, end - wide_bytes);
	}
}
END_TEST

/* The sanitizers watch; without them this still must not crash or write past the slots. */
START_TEST(random_bytes_do_no_harm)
{
	struct sp_slot *slots = malloc(N * sizeof(*slots));

	for (int round = 0; round < 20000 / SP_STRIDE; round++) {
		struct sp_payload_metadata facts;
		size_t n = draw() % 600;
		uint8_t *copy;

		if (round % 2) { /* mostly right: only then the deeper checks are met */
			fill_random(0);
			n = encode(0, 1, &facts);
			payload[draw() % n] ^= (uint8_t)(1 << draw() % 8);
		} else {
			for (size_t i = 0; i < n; i++)
				payload[i] = (uint8_t)draw();
		}
		copy = malloc(n + 1);
		memcpy(copy, payload, n);
		sp_payload_decode(slots, N, copy, n);
		free(copy);
	}
	free(slots);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("codec");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, random_slots_come_back);
	tcase_add_test(tests, loops_of_events_come_back);
	tcase_add_test(tests, narrow_numbers_take_the_same_bytes);
	tcase_add_test(tests, extremes_come_back);
	tcase_add_test(tests, uncommitted_slots_become_holes);
	tcase_add_test(tests, a_shortened_or_longer_payload_is_refused);
	tcase_add_test(tests, random_bytes_do_no_harm);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
