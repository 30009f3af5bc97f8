/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of a trace is known again by its name, whatever characters the name has. */
#include "analyzer/reader/host.h"
#include "tests/unit/common/suite.h"

#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sp_host named(const char *name)
{
	struct sp_host host = {.name = ""};

	strncpy(host.name, name, sizeof(host.name) - 1);
	return host;
}

/* File headers have "_" for each character that is not plain. */
START_TEST(test_hyphen)
{
	struct sp_host own = named("gpu_node_1.cluster"), other = named("gpu_node_2.cluster");

	if (unshare(CLONE_NEWUTS) < 0 || sethostname("gpu-node-1.cluster", 18) < 0)
		return; /* needs the right to name a machine */
	ck_assert(sp_host_is_this(&own));
	ck_assert(!sp_host_is_this(&other));
}
END_TEST

START_TEST(test_no_name)
{
	struct sp_host host = named("");

	ck_assert(!sp_host_is_this(&host));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("host");
	Suite *s = suite_create("host");

	tcase_add_test(tc, test_hyphen);
	tcase_add_test(tc, test_no_name);
	suite_add_tcase(s, tc);
	return sp_suite_run(s);
}
