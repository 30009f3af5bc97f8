/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGEPROF_TESTS_SUITE_H
#define STAGEPROF_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Runs the tests of the suite and frees it. Returns the status that main() has to return. */
static inline int sp_suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
