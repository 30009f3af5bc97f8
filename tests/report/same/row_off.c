/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of report_row_off, which is stageprof-report without one row of step.def: its number is in
 * STAGEPROF_TEST_ROW_OFF.
 */
#include <stdlib.h>

#include "analyzer/steps/step_machine.h"

__attribute__((constructor)) static void switch_off(void)
{
	const char *row = getenv("STAGEPROF_TEST_ROW_OFF");

	if (row)
		sp_step_row_off = (uint32_t)strtoul(row, NULL, 10);
}
