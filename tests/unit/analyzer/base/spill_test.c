/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists in memory and in the file: the same bytes, and memory where there can be no file.
 */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analyzer/base/jobs.h"
#include "analyzer/base/spill.h"
#include "tests/unit/common/suite.h"

#define LISTS 400u
#define PART ((size_t)16 << 20)

static size_t length_of(uint32_t i)
{
	return i % 150 == 13 ? PART / 3 + i : 1 + 37 * (size_t)i;
}

static uint8_t byte_of(uint32_t i, size_t k)
{
	return (uint8_t)(i * 31 + k * 7 + (k >> 9));
}

static uint8_t *make(uint32_t i)
{
	uint8_t *list = malloc(length_of(i));

	ck_assert_ptr_nonnull(list);
	for (size_t k = 0; k < length_of(i); k++)
		list[k] = byte_of(i, k);
	return list;
}

struct kept {
	struct sp_spill *spill;
	uint8_t *lists[LISTS];
	bool moved[LISTS];
};

static int keep(void *context, unsigned worker, uint32_t i)
{
	struct kept *kept = context;
	uint8_t *list = make(i);

	(void)worker;
	kept->lists[i] = sp_spill_keep(kept->spill, list, length_of(i));
	kept->moved[i] = kept->lists[i] != list;
	return 0;
}

static uint32_t keep_all(struct kept *kept, size_t memory_bytes)
{
	uint32_t moved = 0;

	kept->spill = sp_spill_create(memory_bytes);
	ck_assert_ptr_nonnull(kept->spill);
	ck_assert_int_eq(sp_jobs_run(2, LISTS, keep, kept), 0);
	for (uint32_t i = 0; i < LISTS; i++) {
		moved += kept->moved[i];
		for (size_t k = 0; k < length_of(i); k++)
			if (kept->lists[i][k] != byte_of(i, k))
				ck_abort_msg("list %u, byte %zu", i, k);
	}
	for (uint32_t i = 0; i < LISTS; i++)
		sp_spill_free(kept->spill, kept->lists[i]);
	sp_spill_destroy(kept->spill);
	return moved;
}

START_TEST(in_the_file)
{
	struct kept kept;

	ck_assert_uint_eq(keep_all(&kept, 0), LISTS);
	ck_assert_uint_eq(keep_all(&kept, SIZE_MAX), 0);
}
END_TEST

START_TEST(further_ones_alone)
{
	struct kept kept;
	uint32_t moved = keep_all(&kept, PART);

	ck_assert_uint_gt(moved, 0);
	ck_assert_uint_lt(moved, LISTS);
}
END_TEST

/* The limit leaves libcheck its own file. */
START_TEST(no_file)
{
	struct rlimit before, none;
	struct kept kept;
	uint32_t moved;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){PART / 2, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	moved = keep_all(&kept, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_uint_eq(moved, 0);
}
END_TEST

START_TEST(longer_than_a_part)
{
	struct sp_spill *spill = sp_spill_create(0);
	size_t bytes = 2 * PART + 12345;
	uint8_t *list = malloc(bytes), *kept;

	ck_assert(spill && list);
	memset(list, 'x', bytes);
	kept = sp_spill_keep(spill, list, bytes);
	ck_assert_ptr_ne(kept, list);
	ck_assert_uint_eq(kept[0], 'x');
	ck_assert_uint_eq(kept[bytes - 1], 'x');
	sp_spill_free(spill, kept);
	sp_spill_destroy(spill);
}
END_TEST

START_TEST(no_spill)
{
	char *list = malloc(1);

	ck_assert_ptr_eq(sp_spill_keep(NULL, list, 1), list);
	ck_assert_ptr_null(sp_spill_keep(NULL, NULL, 0));
	sp_spill_free(NULL, list);
	sp_spill_free(NULL, NULL);
	sp_spill_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spill");
	TCase *c = tcase_create("spill");

	tcase_add_test(c, in_the_file);
	tcase_add_test(c, further_ones_alone);
	tcase_add_test(c, no_file);
	tcase_add_test(c, longer_than_a_part);
	tcase_add_test(c, no_spill);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
