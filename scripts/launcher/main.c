/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof COMMAND...
 */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/text/help.h"
#include "analyzer/text/language.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/version.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/library.h"
#include "scripts/sampler/sampler_apart.h"
#include "trace/format.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
#define SP_COMMAND(name, arguments, help) {#name, sp_command_##name},
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
	{"sampler", sp_sampler_apart}, /* for the library alone */
};

static void put_version(FILE *file, const struct argp_state *state)
{
	bool is_verbose = sp_version_is_verbose(state->argv);
	char path[SP_PATH_BYTES];
	struct sp_library_file library;

	sp_version_print(file, "stageprof", is_verbose);
	if (!is_verbose)
		return;
	fputs("features  commands"
#define SP_COMMAND(name, arguments, help) " " #name
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
	      "\n",
	      file);
	fprintf(file, "formats   records traces of format %d\n", SP_FORMAT_VERSION);
	if (sp_install_find_library(path) == 0) {
		sp_library_look(&library, path);
		fprintf(file, "library   %s, version %s\n", path,
			library.version[0] ? library.version : "?");
	} else {
		fprintf(file, "library   none\n");
	}
	fprintf(file, "report    %s\n", sp_install_report(path) == 0 ? path : "none");
}

static void print_version(FILE *file, struct argp_state *state)
{
	put_version(file, state);
	sp_help_end();
}

/* libc looks for it by name. */
extern void (*argp_program_version_hook)(FILE *file, struct argp_state *state);
__attribute__((visibility("default"))) void (*argp_program_version_hook)(
	FILE *file, struct argp_state *state) = print_version;

static const struct argp_option options[] = {
	{"verbose", 'v', NULL, 0, N_("with --version: also how stageprof was built, and its parts"),
	 0},
	{0},
};

#define ABOUT N_("Shows where a training job's time goes, with no change to the job.")
#define MORE N_("stageprof COMMAND --help says more about each.")
static const char doc[] = ABOUT "\vCommands:\n"
#define SP_COMMAND(name, arguments, help) "  " #name " " arguments "\n      " help "\n"
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
				"\n" MORE;

static void put_after(FILE *file)
{
	sp_help_text(file, N_("Commands:"));
#define SP_COMMAND(name, arguments, help)                                                          \
	fputs("  " #name " " arguments "\n      ", file);                                          \
	sp_help_text(file, help);
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
	fputs("\n", file);
	sp_help_text(file, MORE);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'v':
		return 0;
	case ARGP_KEY_ARG:
		*(int *)state->input = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		sp_help_refuse(state, _("COMMAND is missing"));
		return 0;
	}
	(void)arg;
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "COMMAND [ARGUMENTS]", doc, NULL,
					 NULL,	  NULL};
	static const struct sp_help help = {"stageprof [OPTION...] COMMAND [ARGUMENTS]", ABOUT,
					    options, NULL, put_after};
	int at = 0;

	sp_translate_into(sp_language_choose(NULL).language);
	argv[0] = program_invocation_short_name; /* errors begin with it */
	sp_help_answer(&help, argc, argv, true);
	argp_err_exit_status = SP_STATUS_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &at) != 0)
		return SP_STATUS_USAGE;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, argv[at]) == 0)
			return commands[i].run(argc - at, argv + at);
	fprintf(stderr,
		_("stageprof: unknown command %s; see stageprof --help, or give stageprof run -- "
		  "%s\n"),
		argv[at], argv[at]);
	return SP_STATUS_USAGE;
}
