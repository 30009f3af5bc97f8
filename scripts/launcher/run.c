/*
 * stageprof run: everything that LD_PRELOAD by hand does, and the next command at the end.
 */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/translate.h"
#include "preload/config.h"
#include "preload/run.h"
#include "scripts/launcher/child.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/nothing.h"
#include "scripts/launcher/settings.h"
#include "scripts/launcher/shell.h"
#include "scripts/launcher/trouble.h"

#define LIBRARY_KEY 1

struct run_options {
	const char *given_library;
	bool quiet;
	char **command; /* NULL-terminated, of argv */
};

/* What the child knows and we need: shared with it. */
struct run_news {
	int error; /* of sp_run_init_launched() */
	struct sp_run run;
};

static const struct argp_option options[] = {
	{"library", LIBRARY_KEY, "FILE", 0,
	 "preload this libstageprof.so (default: the one installed with stageprof)", 1},
	{"quiet", 'q', NULL, 0, "do not say what to do next", 1},
	{0},
};

static const char doc[] =
	"Runs COMMAND under stageprof, as LD_PRELOAD by hand does: the same environment, terminal "
	"and signals, "
	"and COMMAND's exit status or signal. Ends by saying on stderr where the trace is.\v"
	"Every option but --library and --quiet sets the variable that its help names, "
	"STAGEPROF_NAME.\n\n"
	"Exit status: COMMAND's; 125 if stageprof could not begin, 126 if COMMAND cannot be "
	"executed, 127 if it "
	"is not found, 2 for a wrong command line. A COMMAND that dies by a signal: so does "
	"stageprof.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case LIBRARY_KEY:
		o->given_library = arg;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = NULL;
		return 0;
	case ARGP_KEY_ARG:
		o->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no COMMAND given, such as: stageprof run -- python train.py");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* In the child: the run begins with it, as it would without us. */
static void begin_run(void *data)
{
	struct run_news *news = data;

	sp_config_read(environ);
	news->error = sp_run_init_launched();
	news->run = sp_run;
}

static void say_next(const struct run_options *o)
{
	char report[SP_PATH_BYTES], quoted[2 * SP_PATH_BYTES];

	if (o->quiet)
		return;
	fprintf(stderr, _("stageprof: the trace is in %s; next:\n"),
		sp_shell_quote(quoted, sizeof(quoted), sp_shell_relative(sp_run.directory)));
	fprintf(stderr, "    %s",
		sp_shell_quote(quoted, sizeof(quoted), sp_install_report_word(report)));
	fprintf(stderr, " %s\n",
		sp_shell_quote(quoted, sizeof(quoted), sp_shell_relative(sp_run.directory)));
}

static int say_not_run(const struct run_options *o, int error)
{
	bool missing = error == ENOENT && access(o->command[0], F_OK) < 0;

	sp_trouble_say(missing ? SP_TROUBLE_command_missing : SP_TROUBLE_command_refused,
		       o->command[0], missing ? N_("no such program") : strerror(error), NULL);
	return missing ? SP_STATUS_NOT_FOUND : SP_STATUS_NOT_EXECUTABLE;
}

static int run(const struct run_options *o, struct run_news *news)
{
	struct sp_child child;
	int r = sp_child_run(&child, o->command, begin_run, news);

	if (r < 0) {
		sp_trouble_say(SP_TROUBLE_process, o->command[0], strerror(-r), NULL);
		return SP_STATUS_OURS;
	}
	if (child.exec_error)
		return say_not_run(o, child.exec_error);
	sp_config_read(environ);
	sp_run = news->run;
	if (news->error == 0 && sp_run_find() == 0)
		say_next(o);
	else
		sp_nothing_explain(o->command[0], &child);
	sp_child_end_like(&child);
}

int sp_command_run(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&sp_settings_argp, 0, "Settings of the recorder:", 2}, {0}};
	static const struct argp argp = {options, parse, "[--] COMMAND...", doc, children,
					 NULL,	  NULL};
	struct run_options o = {0};
	char library[SP_PATH_BYTES];
	struct run_news *news;
	int r;

	argv[0] = (char *)"stageprof run";
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o) != 0)
		return SP_STATUS_USAGE;
	sp_config_read(environ);
	r = sp_settings_check();
	if (!r)
		r = sp_install_library(library, o.given_library);
	if (r)
		return r;
	news = mmap(NULL, sizeof(*news), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (news == MAP_FAILED || sp_install_preload(library) < 0) {
		sp_trouble_say(SP_TROUBLE_process, o.command[0], strerror(ENOMEM), NULL);
		return SP_STATUS_OURS;
	}
	return run(&o, news);
}
