/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/no_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "preload/settings/config.h"
#include "preload/settings/run_identity.h"
#include "scripts/launcher/marker.h"
#include "scripts/launcher/program.h"
#include "scripts/launcher/launcher_error.h"

/* Returns 0, or -errno: no run can begin where it was to be. The recorder has said so already, if
 * it got that far. */
static int try_output(void)
{
	char folder[SP_RUN_PATH_BYTES];
	struct stat st;

	if (!sp_run.base[0])
		return 0;
	strcpy(folder, sp_run.base);
	if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return -ENOTDIR; /* a device: no number makes a name of it */
	strrchr(folder, '/')[folder == strrchr(folder, '/')] = '\0';
	return sp_marker_try(folder);
}

static void explain_program(const struct sp_program *program, const struct sp_child *child)
{
	const char *why = sp_program_why_not(program);
	int error = why ? 0 : try_output();
	char no_output[512];

	snprintf(no_output, sizeof(no_output), _("the run's directory cannot be created: %s"),
		 sp_translate_errno(-error));
	if (why)
		sp_error_print(SP_ERROR_nothing, program->path, why, sp_program_fix(program));
	else if (error)
		sp_error_print(SP_ERROR_nothing, program->path, no_output,
			       N_("name a writable folder with room by --output, and check "
				  "ulimit -f"));
	else if (sp_config.ranks && *sp_config.ranks)
		sp_error_print(SP_ERROR_nothing, program->path,
			       "no process had a rank that --ranks selects", "see --ranks");
	else if (program->is_dormant)
		sp_error_print(SP_ERROR_nothing, program->path,
			       "it is a tool that is not recorded itself, and it started no "
			       "program "
			       "that is",
			       "name the programs to record by --children=NAME,... or "
			       "--children=all");
	else if (!WIFEXITED(child->status) || WEXITSTATUS(child->status) != 0)
		sp_error_print(SP_ERROR_nothing, program->path,
			       "it ended before its first recorded call", NULL);
	else
		sp_error_print(SP_ERROR_nothing, program->path,
			       "it made no recorded call, or replaced its environment", NULL);
}

void sp_no_trace_explain(const char *command, const struct sp_child *child)
{
	struct sp_program program;

	if (sp_config_is(sp_config.enable, "0"))
		sp_error_print(SP_ERROR_nothing, command, "STAGEPROF_ENABLE is 0",
			       "unset it, or give --enable=1");
	else if (sp_program_look(&program, command) == 0)
		explain_program(&program, child);
	else
		sp_error_print(SP_ERROR_nothing, command, "the program does not exist any more",
			       NULL);
}
