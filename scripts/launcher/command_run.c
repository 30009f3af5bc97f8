/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof run: as LD_PRELOAD by hand, and prints the answer at the end.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/text/help.h"
#include "analyzer/text/translate.h"
#include "preload/settings/config.h"
#include "preload/settings/run_identity.h"
#include "preload/settings/run_sampler.h"
#include "scripts/launcher/run_summary.h"
#include "scripts/launcher/child.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/install.h"
#include "scripts/launcher/last_command.h"
#include "scripts/launcher/library.h"
#include "scripts/launcher/marker.h"
#include "scripts/launcher/no_trace.h"
#include "scripts/launcher/program.h"
#include "scripts/launcher/sampling_right.h"
#include "scripts/launcher/settings.h"
#include "scripts/launcher/launcher_error.h"
#include "scripts/watch/call_watch.h"
#include "scripts/watch/hang_watch.h"
#include "scripts/sampler/sampler.h"
#include "trace/arenas/arena_files.h"

#define LIBRARY_KEY 1
#define HTML_KEY 2
#define NO_SAMPLE_KEY 3
#define AGAINST_KEY 4
#define WATCH_KEY 5
#define SAMPLE_VARIABLE "STAGEPROF_SAMPLE"
#define MODULE_KEY 'm'

struct run_options {
	const char *given_library;
	const char *page;    /* --html: ""; of the run's name; NULL: no page */
	const char *against; /* --against: ""; the run before; NULL: not given */
	char *old_preload;   /* LD_PRELOAD as we found it */
	bool quiet;
	struct sp_hang_watch watch; /* --watch */
	char **given;		    /* options on the command line, NULL-terminated */
	char **command;		    /* NULL-terminated, of argv */
};

/* Results of the child for the launcher, in shared memory. */
struct run_outcome {
	int error; /* of sp_run_init_launched() */
	struct sp_run_identity run;
	atomic_bool is_written;
	pid_t pid; /* of the command; the launcher stores it before its threads begin */
};

/* Threads that run beside the command. */
struct run_beside {
	struct run_outcome *outcome;
	struct sp_sampler sampler;
	struct sp_call_watch watch;
	struct sp_hang_watch hang_watch;
};

static const struct argp_option options[] = {
	{"library", LIBRARY_KEY, "FILE", 0,
	 N_("preload this libstageprof.so (default: the one installed with stageprof)"), 1},
	{"html", HTML_KEY, "FILE", OPTION_ARG_OPTIONAL,
	 N_("at the end make a page for a browser (default: run.html for run.zst)"), 1},
	{"no-sample", NO_SAMPLE_KEY, NULL, 0,
	 N_("sample no Python stacks (default: as --sample, so that the answer names the line)"),
	 1},
	{"against", AGAINST_KEY, "RUN", OPTION_ARG_OPTIONAL,
	 N_("compare the steps with those of RUN (default: the run before; without this option, "
	    "the "
	    "run before of the same command)"),
	 1},
	{"watch", WATCH_KEY, "TIME[,exec=COMMAND][,kill=SIGNAL]", 0,
	 N_("if training stands still for TIME (300s, 5m): print what it waits for, run COMMAND, "
	    "send SIGNAL to the job, and KILL after as long again; then exit with 124"),
	 1},
	{"quiet", 'q', NULL, 0, N_("print nothing at the end"), 1},
	{"module", MODULE_KEY, "MODULE", OPTION_HIDDEN, "", 1}, /* refused: it is python's */
	{0},
};

#define ABOUT                                                                                      \
	N_("Runs COMMAND under stageprof, as LD_PRELOAD by hand does: the same environment, "      \
	   "terminal and signals, and COMMAND's exit status or signal. Ends by printing on "       \
	   "stderr what the trace says and where it is. COMMAND may be a script, train.py: "       \
	   "python3 runs it.")
#define VARIABLES                                                                                  \
	N_("Each setting of the recorder sets the variable that its help names, STAGEPROF_NAME.")
#define STATUS                                                                                     \
	N_("Exit status: COMMAND's; 124 if --watch ended it, 125 if stageprof could not begin, "   \
	   "126 if COMMAND cannot be executed, 127 if it is not found, 2 for a wrong command "     \
	   "line. A COMMAND that dies by a signal: so does stageprof.")
static const char doc[] = ABOUT "\v" VARIABLES "\n\n" STATUS;

static void put_after(FILE *file)
{
	sp_help_text(file, VARIABLES);
	fputs("\n", file);
	sp_help_text(file, STATUS);
}

/* As in `stageprof run -m package.train`. */
static void refuse_module(const struct argp_state *state, const char *module)
{
	char text[1024];

	snprintf(text, sizeof(text), _("-m is an option of python: stageprof run -- python3 -m %s"),
		 module);
	sp_help_refuse(state, text);
}

/* Returns the words between `first` and the command. NULL: out of memory. */
static char **options_of(char **first, char **command)
{
	size_t count = (size_t)(command - first);
	char **ret = calloc(count + 1, sizeof(*ret));

	if (count && strcmp(first[count - 1], "--") == 0)
		count--;
	if (ret)
		memcpy(ret, first, count * sizeof(*ret));
	return ret;
}

/* Ends the program where the wishes cannot be read. */
static error_t take_watch(struct sp_hang_watch *watch, const char *text)
{
	char *copy = strdup(text); /* for the program's life */
	const char *why = copy ? sp_hang_watch_parse(copy, watch) : NULL;

	if (why) {
		sp_error_print(SP_ERROR_watch, text, why, NULL);
		exit(SP_STATUS_USAGE);
	}
	return copy ? 0 : ENOMEM;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case LIBRARY_KEY:
		o->given_library = arg;
		return 0;
	case HTML_KEY:
		o->page = arg ? arg : "";
		return 0;
	case AGAINST_KEY:
		o->against = arg ? arg : "";
		return 0;
	case WATCH_KEY:
		return take_watch(&o->watch, arg);
	case NO_SAMPLE_KEY:
		return setenv(SAMPLE_VARIABLE, "0", 1) == 0 ? 0 : ENOMEM;
	case 'q':
		o->quiet = true;
		return 0;
	case MODULE_KEY:
		refuse_module(state, arg);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = NULL;
		return 0;
	case ARGP_KEY_ARG:
		o->command = &state->argv[state->next - 1];
		o->given = options_of(state->argv + 1, o->command);
		state->next = state->argc;
		return o->given ? 0 : ENOMEM;
	case ARGP_KEY_NO_ARGS:
		sp_help_refuse(state, _("COMMAND is missing, such as: stageprof run -- python "
					"train.py"));
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Runs in the child: begins the run there, as a preload without the launcher does. */
static void begin_run(void *data)
{
	struct run_beside *beside = data;
	struct run_outcome *outcome = beside->outcome;

	sp_config_read(environ);
	outcome->error = sp_run_init_launched();
	/* an ancestor needs nobody's leave */
	if (beside->sampler.rate)
		sp_run_sampler_publish(0);
	outcome->run = sp_run;
	atomic_store(&outcome->is_written, true);
}

/* Runs in the threads beside the command: sp_run does not change once its directory is found. */
static bool has_directory(void *data)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_found;
	struct run_outcome *outcome = data;
	bool ret;

	if (!atomic_load(&outcome->is_written) || outcome->error)
		return false;
	pthread_mutex_lock(&lock);
	if (!is_found) {
		sp_run = outcome->run;
		is_found = sp_run_find() == 0;
	}
	ret = is_found;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Runs in the thread of the watch for hangs. Where launchers share a run, the one that began it
 * watches. */
static bool has_own_run(void *data)
{
	return has_directory(data) &&
	       sp_run.beginner_pid == (uint64_t)((struct run_outcome *)data)->pid;
}

/* Runs in the thread of the watch for calls. */
static void note_alive(void *data)
{
	sp_marker_alive(((struct run_outcome *)data)->pid);
}

static void begin_beside(void *data, pid_t pid)
{
	struct run_beside *beside = data;
	int r = sp_sampler_start(&beside->sampler, pid);

	beside->outcome->pid = pid;
	sp_call_watch_start(&beside->watch);
	sp_hang_watch_start(&beside->hang_watch, pid);
	if (r < 0)
		sp_error_print(SP_ERROR_sampler, "--sample", strerror(-r), NULL);
}

static void look_at_calls(void *data)
{
	sp_call_watch_look(&((struct run_beside *)data)->watch);
}

static void note_reaped(void *data, pid_t pid, int status)
{
	sp_hang_watch_reaped(&((struct run_beside *)data)->hang_watch, pid, status);
}

static void end_beside(void *data)
{
	struct sp_sampler *sampler = &((struct run_beside *)data)->sampler;

	sp_hang_watch_stop(&((struct run_beside *)data)->hang_watch); /* first: it sends signals */
	sp_call_watch_stop(&((struct run_beside *)data)->watch);
	sp_sampler_stop(sampler);
	if (sampler->is_refused && sp_config.sample)
		sp_sampling_right_explain();
}

/* The run is there, and the command has ended. */
static void conclude(const struct run_options *o, const struct sp_child *child, uint64_t oom_kills)
{
	char earlier[SP_RUN_PATH_BYTES], page[SP_PATH_BYTES];
	struct sp_summary_wishes wishes = {
		.preload = o->old_preload,
		.page = o->page,
		.is_quiet = o->quiet,
	};
	const struct sp_last_command last = {o->given, o->command};
	uint64_t hash = sp_marker_hash(o->command);

	/* the run that this one joined goes on */
	wishes.is_joined = sp_run.beginner_pid != (uint64_t)child->pid;
	if (!wishes.is_joined)
		sp_marker_end(child, hash, oom_kills);
	sp_arenas_to_files(sp_run.directory,
			   sp_run.token); /* a container's memory may end with us */
	if (o->against && *o->against)
		wishes.earlier = o->against;
	else if (sp_marker_earlier(earlier, o->against ? 0 : hash) == 0)
		wishes.earlier = earlier;
	else if (o->against && !o->quiet)
		fprintf(stderr, _("stageprof: there is no earlier run to compare with\n"));
	wishes.can_repeat = !wishes.is_joined && sp_last_command_store(&last) == 0;
	if (o->page && !*o->page) {
		sp_run_page_name(page, sp_run.directory);
		wishes.page = page;
	}
	sp_run_summary_print(&wishes);
}

static int explain_not_run(const struct run_options *o, int error)
{
	bool missing = error == ENOENT && access(o->command[0], F_OK) < 0;

	sp_error_print(missing ? SP_ERROR_command_missing : SP_ERROR_command_refused, o->command[0],
		       missing ? N_("no such program") : strerror(error), NULL);
	return missing ? SP_STATUS_NOT_FOUND : SP_STATUS_NOT_EXECUTABLE;
}

/* A line has said why: the training matters more than its record. */
static int run_unrecorded(const struct run_options *o)
{
	execvp(o->command[0], o->command);
	return explain_not_run(o, errno);
}

/* LD_PRELOAD is set, so the command is recorded. */
static int run_alone(const struct run_options *o, int error)
{
	sp_error_print(SP_ERROR_alone, o->command[0], strerror(error), NULL);
	return run_unrecorded(o);
}

/* Unless STAGEPROF_SAMPLE says otherwise, as --sample without a rate. A launcher around this one
 * samples its descendants already. */
static struct sp_sampler sampler_of(struct run_outcome *outcome)
{
	struct sp_sampler ret = {.is_ready = has_directory, .context = outcome};

	if (!sp_run_sampler_inherited())
		sp_sampler_ask(&ret, sp_config.sample ? sp_config.sample : SP_SAMPLER_AUTO);
	return ret;
}

/* Without the report there is no watch. */
static struct sp_hang_watch hang_watch_of(const struct run_options *o, struct run_outcome *outcome)
{
	static char report[SP_PATH_BYTES];
	struct sp_hang_watch ret = o->watch;

	if (ret.limit_ns && sp_install_report(report) < 0)
		ret.limit_ns = 0;
	ret.report = report;
	ret.preload = o->old_preload;
	ret.is_ready = has_own_run;
	ret.context = outcome;
	return ret;
}

static int run(const struct run_options *o, struct run_outcome *outcome)
{
	struct sp_child child;
	uint64_t oom_kills = sp_oom_kills();
	struct run_beside data = {.outcome = outcome,
				  .sampler = sampler_of(outcome),
				  .watch = {.is_ready = has_directory,
					    .looked = note_alive,
					    .context = outcome},
				  .hang_watch = hang_watch_of(o, outcome)};
	const struct sp_child_beside beside = {.prepare = begin_run,
					       .begun = begin_beside,
					       .ended = end_beside,
					       .signaled = look_at_calls,
					       .reaped = note_reaped,
					       .data = &data};
	int r = sp_child_run(&child, o->command, &beside);

	if (r < 0)
		return run_alone(o, -r);
	if (child.exec_error)
		return explain_not_run(o, child.exec_error);
	sp_config_read(environ);
	sp_run = outcome->run;
	if (outcome->error == 0 && sp_run_find() == 0) {
		conclude(o, &child, sp_oom_kills() - oom_kills);
	} else {
		if (outcome->error == 0) /* its folder is gone */
			sp_arenas_to_files(outcome->run.directory, outcome->run.token);
		sp_no_trace_explain(o->command[0], &child);
	}
	if (data.hang_watch.has_killed)
		exit(SP_STATUS_HUNG);
	sp_child_end_like(&child);
}

/* Returns why the path names no run; NULL: it may name one, or a digest. */
static const char *why_no_run(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool has_trace = false;

	if (!folder)
		return errno == ENOTDIR && access(path, R_OK) == 0 ? NULL : strerror(errno);
	while (!has_trace && (entry = readdir(folder))) {
		const char *suffix = strrchr(entry->d_name, '.');

		has_trace = suffix && strcmp(suffix, ".zst") == 0;
	}
	closedir(folder);
	return has_trace ? NULL : N_("it holds no trace: no file in it ends in .zst");
}

/* Before the command runs for hours. Returns the exit status. */
static int check_against(const char *against)
{
	const char *why = against && *against ? why_no_run(against) : NULL;

	if (!why)
		return SP_STATUS_OK;
	sp_error_print(SP_ERROR_against, against, why, NULL);
	return SP_STATUS_USAGE;
}

int sp_command_run(int argc, char **argv)
{
	static const struct argp_child children[] = {{&sp_settings_argp, 0,
						      "Settings of the recorder:", 2},
						     {0}};
	static const struct argp argp = {options, parse, "[--] COMMAND...", doc, children,
					 NULL,	  NULL};
	static const struct sp_help help = {"stageprof run [OPTION...] [--] COMMAND...", ABOUT,
					    options, sp_settings_options, put_after};
	struct run_options o = {0};
	char library[SP_PATH_BYTES];
	struct run_outcome *outcome;
	int r;

	argv[0] = (char *)"stageprof run";
	sp_help_answer(&help, argc, argv, true);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o) != 0)
		return SP_STATUS_USAGE;
	sp_config_read(environ);
	r = sp_settings_check();
	if (!r)
		r = check_against(o.against);
	if (!r)
		r = sp_install_library(library, o.given_library);
	if (r)
		return r;
	o.command = sp_program_with_python(o.command);
	if (!sp_library_is_usable(library))
		return run_unrecorded(&o);
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	o.old_preload = getenv("LD_PRELOAD") ? strdup(getenv("LD_PRELOAD")) : NULL;
	if (sp_install_preload(library) < 0) {
		free(o.old_preload);
		sp_error_print(SP_ERROR_process, o.command[0], strerror(ENOMEM), NULL);
		return SP_STATUS_OURS;
	}
	return outcome == MAP_FAILED ? run_alone(&o, ENOMEM) : run(&o, outcome);
}
