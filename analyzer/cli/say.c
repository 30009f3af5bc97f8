/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/say.h"

#include <stdio.h>

void sp_say(const char *line)
{
	fprintf(stderr, "stageprof-report: %s\n", line);
}

void sp_say_error(enum sp_report_error error, const char *value, const char *why)
{
	char line[4096];

	sp_report_error_line(line, sizeof(line), error, value, why);
	sp_say(line);
}

void sp_say_damage(const char *line)
{
	fprintf(stderr, "stageprof-report: %s [%s]\n", line,
		sp_report_error(SP_REPORT_ERROR_damaged)->code);
}
