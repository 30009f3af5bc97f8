/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof COMMAND...
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/text/language.h"
#include "scripts/launcher/command.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
#define SP_COMMAND(name, arguments, help) {#name, sp_command_##name},
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
};

/* libc looks for it by name. */
__attribute__((visibility("default"))) const char *argp_program_version = "stageprof"
									  " " STAGEPROF_VERSION;

static const char doc[] = "Tells where a training job's time goes, with no change to the "
			  "job.\vCommands:\n"
#define SP_COMMAND(name, arguments, help) "  " #name " " arguments "\n      " help "\n"
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
			  "\nstageprof COMMAND --help tells more of each.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_ARG:
		*(int *)state->input = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "COMMAND is missing");
		return 0;
	}
	(void)arg;
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {NULL, parse, "COMMAND [ARGUMENTS]", doc, NULL, NULL, NULL};
	int at = 0;

	sp_translate_into(sp_language_choose(NULL).language);
	argp_err_exit_status = SP_STATUS_USAGE;
	argv[0] = program_invocation_short_name; /* getopt's complaints begin with it */
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &at) != 0)
		return SP_STATUS_USAGE;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, argv[at]) == 0)
			return commands[i].run(argc - at, argv + at);
	fprintf(stderr,
		"stageprof: unknown command %s; see stageprof --help, or give stageprof run -- "
		"%s\n",
		argv[at], argv[at]);
	return SP_STATUS_USAGE;
}
