#include "scripts/launcher/nothing.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/config.h"
#include "preload/run.h"
#include "scripts/launcher/program.h"
#include "scripts/launcher/trouble.h"

/* A directory that nothing can be made in was told by the recorder, if it came so far. */
static int is_output_unwritable(void)
{
	char folder[SP_RUN_PATH_BYTES];

	if (!sp_run.base[0])
		return 0;
	strcpy(folder, sp_run.base);
	*strrchr(folder, '/') = '\0';
	return access(folder[0] ? folder : "/", W_OK | X_OK) < 0;
}

static void say_of_program(const struct sp_program *program, const struct sp_child *child)
{
	const char *why = sp_program_why_not(program);

	if (why)
		sp_trouble_say(SP_TROUBLE_nothing, program->path, why, sp_program_fix(program));
	else if (is_output_unwritable())
		sp_trouble_say(SP_TROUBLE_nothing, program->path,
			       "the run's directory cannot be made there",
			       "set --output to a path below a folder that can be written to");
	else if (sp_config.ranks && *sp_config.ranks)
		sp_trouble_say(SP_TROUBLE_nothing, program->path,
			       "no process was of a rank that is to record", "see --ranks");
	else if (program->is_dormant)
		sp_trouble_say(SP_TROUBLE_nothing, program->path,
			       "it only passes the run on, and it started nothing that records",
			       "name what is to record by --children=NAME,... or --children=all");
	else if (!WIFEXITED(child->status) || WEXITSTATUS(child->status) != 0)
		sp_trouble_say(SP_TROUBLE_nothing, program->path,
			       "it ended before any call that is recorded", NULL);
	else
		sp_trouble_say(SP_TROUBLE_nothing, program->path,
			       "it made no call that is recorded, or replaced its environment",
			       NULL);
}

void sp_nothing_explain(const char *command, const struct sp_child *child)
{
	struct sp_program program;

	if (sp_config_is(sp_config.enable, "0"))
		sp_trouble_say(SP_TROUBLE_nothing, command, "STAGEPROF_ENABLE is 0",
			       "unset it, or give --enable=1");
	else if (sp_program_look(&program, command) == 0)
		say_of_program(&program, child);
	else
		sp_trouble_say(SP_TROUBLE_nothing, command, "the program is not there any more",
			       NULL);
}
