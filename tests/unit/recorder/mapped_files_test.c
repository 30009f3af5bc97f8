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

static enum sp_mapping find(uintptr_t n, uint64_t at, uint32_t *ret_file)
{
	return sp_mapped_find(&(struct sp_mapped_place){n * BYTES + BYTES - 1, at}, ret_file);
}

static uint32_t file_at(uintptr_t n, uint64_t at)
{
	uint32_t file;

	find(n, at, &file);
	return file;
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
	uint64_t first, gone, second;
	uint32_t file;

	run_begin("map");
	ck_assert_ptr_nonnull(sp_enter());
	sp_mapped_note(address(1), BYTES, regular | 5);
	first = instant();
	ck_assert_int_eq(find(2, first, &file), SP_MAPPING_ASK);
	sp_mapped_end(address(1), BYTES);
	gone = instant();
	ck_assert_int_eq(find(1, gone, &file), SP_MAPPING_ASK);
	sp_mapped_note(address(1), 2 * BYTES, regular | 6);
	second = instant();
	ck_assert_uint_eq(file_at(1, first), regular | 5);
	ck_assert_uint_eq(file_at(1, second), regular | 6);
	ck_assert_uint_eq(file_at(2, second), regular | 6);
	/* what the kernel has there now came later */
	ck_assert_int_eq(find(1, gone, &file), SP_MAPPING_UNKNOWN);
	ck_assert_int_eq(find(2, first, &file), SP_MAPPING_UNKNOWN);
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

static void *map_unseen(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	close(fd);
	return p;
}

/* A file, memory, and a file where another one was. */
START_TEST(the_kernel_knows_the_others)
{
	void *file = map_unseen("/proc/self/exe"), *memory = calloc(1, 1), *again;
	struct sp_mapped_place places[3];
	uint32_t ids[3];
	uint64_t before;

	run_begin("map");
	ck_assert_ptr_nonnull(sp_enter());
	again = map_unseen("/proc/self/exe");
	sp_mapped_note(again, BYTES, regular | 5);
	before = instant();
	sp_mapped_end(again, BYTES);
	places[0] = (struct sp_mapped_place){(uintptr_t)file, sp_clock_ticks()};
	places[1] = (struct sp_mapped_place){(uintptr_t)memory, sp_clock_ticks()};
	places[2] = (struct sp_mapped_place){(uintptr_t)again, instant()};
	sp_mapped_ask(sp_enter(), places, 3);
	ck_assert_int_eq(sp_mapped_find(&places[0], &ids[0]), SP_MAPPING_FILE);
	ck_assert_int_eq(sp_mapped_find(&places[1], &ids[1]), SP_MAPPING_MEMORY);
	ck_assert_int_eq(sp_mapped_find(&places[2], &ids[2]), SP_MAPPING_FILE);
	ck_assert_uint_eq(ids[0] >> SP_FILE_TYPE_SHIFT, SP_FILE_REGULAR);
	ck_assert_uint_eq(ids[2], ids[0]);
	places[2].at = before;
	ck_assert_int_eq(sp_mapped_find(&places[2], &ids[2]), SP_MAPPING_FILE);
	ck_assert_uint_eq(ids[2], regular | 5);
	run_remove();
	munmap(file, BYTES);
	munmap(again, BYTES);
	free(memory);
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
