/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof report: runs stageprof-report.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "scripts/launcher/command.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/launcher_error.h"

int sp_command_report(int argc, char **argv)
{
	char path[SP_PATH_BYTES];

	(void)argc;
	if (sp_install_report(path) < 0) {
		sp_error_print(SP_ERROR_report_missing, "stageprof-report", strerror(ENOENT), NULL);
		return SP_STATUS_FAILED;
	}
	argv[0] = (char *)"stageprof-report";
	execv(path, argv);
	sp_error_print(SP_ERROR_report_missing, path, strerror(errno), NULL);
	return SP_STATUS_FAILED;
}
