/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the files of control groups. */
#include <check.h>
#include <stdlib.h>

#include "preload/sys/cgroups.h"
#include "tests/unit/common/suite.h"

START_TEST(a_key_is_found_at_the_begin_of_a_line)
{
	const char *text = "anon_file 1\nfile_mapped 2\nfile 3\nshmem 4\n";

	ck_assert_uint_eq(sp_cgroup_value(text, "file "), 3);
	ck_assert_uint_eq(sp_cgroup_value(text, "anon_file "), 1);
	ck_assert_uint_eq(sp_cgroup_value(text, "mapped "), UINT64_MAX);
	ck_assert_uint_eq(sp_cgroup_value("", "file "), UINT64_MAX);
	ck_assert_uint_eq(sp_cgroup_value("some avg10=0.00 total=5\n", " total="), 5);
}
END_TEST

START_TEST(shared_memory_is_no_cached_file)
{
	ck_assert_uint_eq(sp_cgroup_files_cached("anon 1\nfile 70\nshmem 50\n", 1, 100), 20);
	ck_assert_uint_eq(sp_cgroup_files_cached("cache 70\nrss 1\nshmem 50\n", 0, 100), 20);
	ck_assert_uint_eq(sp_cgroup_files_cached("anon 1\nfile 70\n", 1, 100), 70);
	ck_assert_uint_eq(sp_cgroup_files_cached("file 70\nshmem 80\n", 1, 100), 0);
	ck_assert_uint_eq(sp_cgroup_files_cached("file 170\nshmem 5\n", 1, 100), 100);
	ck_assert_uint_eq(sp_cgroup_files_cached("", 1, 100), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroups");
	TCase *t = tcase_create("cgroups");

	tcase_add_test(t, a_key_is_found_at_the_begin_of_a_line);
	tcase_add_test(t, shared_memory_is_no_cached_file);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
