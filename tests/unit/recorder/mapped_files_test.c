/* SPDX-License-Identifier: Apache-2.0 */
/* The file of an address, as mappings come and go. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/recorder/recorder.h"
#include "preload/waits/mapped_files.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/own_run.h"

enum { MAPPINGS = 1024, BYTES = 4096 };

static const uint32_t regular = (uint32_t)SP_FILE_REGULAR << SP_FILE_TYPE_SHIFT;

static void *address(uintptr_t n)
{
	return (void *)(n * BYTES);
}

static uint32_t file_at(uintptr_t n, uint64_t at)
{
	uint32_t none = 0;

	return sp_mapped_file(sp_enter(), n * BYTES + BYTES - 1, at, &none);
}

/* Ticks that differ from those before and after. */
static uint64_t instant(void)
{
	uint64_t begin = sp_clock_ticks(), ret;

	while ((ret = sp_clock_ticks()) == begin)
		;
	while (sp_clock_ticks() == ret)
		;
	return ret;
}

START_TEST(the_last_mapping_before_a_time_counts)
{
	uint64_t first, second;

	run_begin("map");
	ck_assert_ptr_nonnull(sp_enter());
	sp_mapped_note(address(1), BYTES, regular | 5);
	first = instant();
	sp_mapped_end(address(1), BYTES);
	ck_assert_uint_eq(file_at(1, instant()), 0);
	sp_mapped_note(address(1), 2 * BYTES, regular | 6);
	second = instant();
	ck_assert_uint_eq(file_at(1, first), regular | 5);
	ck_assert_uint_eq(file_at(1, second), regular | 6);
	ck_assert_uint_eq(file_at(2, second), regular | 6);
	ck_assert_uint_eq(file_at(2, first), 0);
	ck_assert_uint_eq(file_at(3, second), 0);
	run_remove();
}
END_TEST

START_TEST(old_mappings_make_room)
{
	uint64_t now;

	run_begin("map");
	ck_assert_ptr_nonnull(sp_enter());
	for (uint32_t i = 1; i <= MAPPINGS + 10; i++)
		sp_mapped_note(address(i), BYTES, regular | i);
	now = instant();
	ck_assert_uint_eq(file_at(5, now), 0);
	for (uint32_t i = 11; i <= MAPPINGS + 10; i++)
		ck_assert_uint_eq(file_at(i, now), regular | i);
	run_remove();
}
END_TEST

START_TEST(the_kernel_knows_the_others)
{
	uint32_t reads_left = 1, file;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	close(fd);
	run_begin("map");
	file = sp_mapped_file(sp_enter(), (uintptr_t)p, sp_clock_ticks(), &reads_left);
	ck_assert_uint_eq(file >> SP_FILE_TYPE_SHIFT, SP_FILE_REGULAR);
	ck_assert_uint_eq(reads_left, 0);
	/* it is noted now */
	ck_assert_uint_eq(sp_mapped_file(sp_enter(), (uintptr_t)p, 1, &reads_left), file);
	run_remove();
	munmap(p, BYTES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mapped_files");
	TCase *t = tcase_create("mapped_files");

	tcase_add_test(t, the_last_mapping_before_a_time_counts);
	tcase_add_test(t, old_mappings_make_room);
	tcase_add_test(t, the_kernel_knows_the_others);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
