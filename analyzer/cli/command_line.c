/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/command_line.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/base/jobs.h"
#include "analyzer/cli/option_checks.h"
#include "analyzer/cli/option_values.h"
#include "analyzer/cli/run_find.h"
#include "analyzer/text/error.h"
#include "analyzer/text/help.h"
#include "analyzer/text/language.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/version.h"
#include "trace/format.h"

#define USAGE_STATUS 2
#define PIPED_WIDTH 100u
#define INTERVAL_NS UINT64_C(2000000000)
#define TABLE_ROWS 50u
#define NO_LIMIT_GIVEN 0u

enum {
#define SP_OPTION(id, name, key, argument, help) KEY_##id = (key),
#include "analyzer/cli/options.def"
#undef SP_OPTION
};

static const struct argp_option argp_options[] = {
#define SP_OPTION(id, name, key, argument, help) {name, key, argument, 0, help, 0},
#include "analyzer/cli/options.def"
#undef SP_OPTION
	{0},
};

static void put_version(FILE *file, const struct argp_state *state)
{
	bool is_verbose = sp_version_is_verbose(state->argv);

	sp_version_print(file, "stageprof-report", is_verbose);
	if (!is_verbose)
		return;
	fprintf(file, "features  languages en"
#define SP_LANGUAGE(code, also, plural) " " #code
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
		      "; exports"
#define SP_EXPORTER(name, binary, needs, help, next) " " #name
#include "analyzer/exporters/exporters.def"
#undef SP_EXPORTER
		      "; functions by name (--symbols)\n");
	fprintf(file, "formats   reads traces of format %d\n", SP_FORMAT_VERSION);
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

#define ABOUT                                                                                      \
	N_("Shows where a training job's time went, from the trace that libstageprof.so left.")
static const char doc[] = ABOUT "\v ";

/* The views of their own line, and the names of the others. */
static void put_views(FILE *file)
{
	char names[1024] = "";
	size_t used = 0;

	sp_help_text(file, N_("Views:"));
	for (unsigned i = 0; i < sp_view_count; i++) {
		const struct sp_view *view = &sp_views[i];

		if (!view->help)
			continue;
		if (!(view->needs & SP_IS_DETAIL))
			sp_help_entry(file, view->name, view->help);
		else if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", view->name);
	}
	sp_help_entry(file, _("more, for details (see the man page)"), names);
}

static void put_after(FILE *file)
{
	sp_help_text(file, N_("RUN is a run's directory, one file of it, or several of them. "
			      "Without RUN: the run*.zst here that changed last."));
	fputs("\n", file);
	put_views(file);
	fputs("\n", file);
	sp_help_text(file, N_("digest RUN... -o FILE.spd instead of a view: a small file "
			      "that stands for the runs in many views (docs/DIGEST.md)"));
	fputs("\n", file);
	sp_help_text(file, N_("export NAME instead of a view, for other programs "
			      "(docs/EXPORTS.md):"));
#define SP_EXPORTER(name, binary, needs, help, next) sp_help_entry(file, #name, help);
#include "analyzer/exporters/exporters.def"
#undef SP_EXPORTER
	fputs("\n", file);
	sp_help_text(file, N_("explain says what a verdict or the code of an error means, or lists "
			      "them all."));
}

static char *help_text(int key, const char *text, void *input)
{
	char *ret = NULL;
	size_t bytes;
	FILE *file;

	(void)input;
	file = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&ret, &bytes) : NULL;
	if (!file)
		return (char *)text;
	put_after(file);
	return fclose(file) == 0 ? ret : (char *)text;
}

/* when: 0 auto, 1 always, 2 never */
static bool wants_color(int when, bool to_stdout)
{
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"),
		   *term = getenv("TERM");

	if (when)
		return when == 1;
	if (no && *no)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return to_stdout && isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

static unsigned default_width(bool *ret_is_asked)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int n = columns ? atoi(columns) : 0;

	*ret_is_asked = true;
	if (n > 0)
		return (unsigned)n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	*ret_is_asked = false;
	return PIPED_WIDTH;
}

static void take_exporter(struct sp_options *o, struct argp_state *state, const char *name)
{
	static const char names[] =
#define SP_EXPORTER(name, binary, needs, help, next) " " #name
#include "analyzer/exporters/exporters.def"
#undef SP_EXPORTER
		;

	o->exporter = sp_exporter_find(name);
	if (!o->exporter)
		bad_word(state, "export %s: the exports are%s (see --help)", name, names);
}

/* A word without a dot and a slash that is no file was meant as a view. */
static void refuse_word(const struct argp_state *state, const char *word)
{
	const char *meant = sp_view_meant(word);
	char shown[64];

	sp_text_escape(shown, sizeof(shown), word, strlen(word));
	if (meant)
		bad_word(state, "no view '%s'; did you mean %s?", shown, meant);
	bad_word(state, "no view '%s', and no run of that name", shown);
}

static void take_argument(struct sp_options *o, struct argp_state *state, char *arg)
{
	if (o->explains && !o->explained) {
		o->explained = arg;
		return;
	}
	if (state->arg_num == 0 && strcmp(arg, "explain") == 0) {
		o->explains = true;
		return;
	}
	/* One word may be a view, and the first "export";
	 * a file of that name is given as ./NAME. */
	if (state->arg_num == 0 && (o->is_digest = strcmp(arg, "digest") == 0))
		return;
	if (state->arg_num == 0 && (o->is_export = strcmp(arg, "export") == 0))
		return;
	if (state->arg_num == 1 && o->is_export) {
		take_exporter(o, state, arg);
		return;
	}
	if (!o->view && !o->exporter && !o->explains && !o->is_digest &&
	    (o->view = sp_view_find(arg)))
		return;
	if (!*arg) /* an unset variable of a script */
		bad_word(state, "an empty RUN; give its path");
	if (sp_word_is_lost(arg))
		refuse_word(state, arg);
	*o->paths++ = arg;
}

static void parse_phase(struct argp_state *state, struct sp_options *o, const char *name)
{
	int phase = sp_sample_phase_find(name);

	if (phase < 0)
		bad_value(state,
			  "--phase: no phase is called %s; the table's first column has the "
			  "names",
			  name);
	o->rows.phase = (unsigned)phase + 1;
}

/* The part of the run that is read. */
static bool take_selection(struct sp_options *o, int key, const char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_process:
		o->selection.pid = (uint32_t)sp_option_number(state, "process", arg, UINT32_MAX);
		return true;
	case KEY_thread:
		o->selection.tid = (uint32_t)sp_option_number(state, "thread", arg, UINT32_MAX);
		return true;
	case KEY_from:
		o->selection.from_ns = sp_option_time(state, "from", arg);
		return true;
	case KEY_to:
		o->selection.to_ns = sp_option_time(state, "to", arg);
		return true;
	case KEY_steps:
		sp_option_steps(state, &o->steps, arg);
		return true;
	case KEY_warmup:
		o->steps.warmup = (int64_t)sp_option_number(state, "warmup", arg, UINT32_MAX);
		return true;
	case KEY_epoch:
		o->steps.epoch = (int64_t)sp_option_number(state, "epoch", arg, UINT32_MAX);
		return true;
	}
	return false;
}

static void take_limit(struct sp_options *o, const char *arg, struct argp_state *state)
{
	o->rows.limit = UINT32_MAX;
	if (strcmp(arg, "all") != 0)
		o->rows.limit = (uint32_t)sp_option_number(state, "limit", arg, UINT32_MAX);
	if (o->rows.limit == NO_LIMIT_GIVEN)
		bad_value(state, "--limit: the least limit is one row");
}

/* The rows of a view, and their order. */
static bool take_rows(struct sp_options *o, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_limit:
		take_limit(o, arg, state);
		return true;
	case KEY_sort:
		o->rows.sort = arg;
		return true;
	case KEY_symbols:
		o->rows.symbols = true;
		return true;
	case KEY_by:
		o->by_word = arg;
		return true;
	case KEY_phase:
		parse_phase(state, o, arg);
		return true;
	case KEY_all:
		o->rows.is_full = true;
		return true;
	case KEY_verbose:
		o->verbose = o->rows.is_full = true;
		return true;
	case KEY_table:
		o->table = arg;
		return true;
	}
	return false;
}

/* The form of the answer, and its place. */
static bool take_output(struct sp_options *o, int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = {"table", "json", "csv", "md", NULL};
	static const char *const colors[] = {"auto", "always", "never", NULL};

	switch (key) {
	case KEY_format:
		o->format = (enum sp_format)sp_option_word(state, "format", arg, formats);
		return true;
	case KEY_output:
		o->output = arg;
		return true;
	case KEY_force:
		o->force = true;
		return true;
	case KEY_width:
		o->width = (unsigned)sp_option_number(state, "width", arg, 10000);
		o->width_is_asked = true;
		return true;
	case KEY_color:
		o->color_when = sp_option_word(state, "color", arg, colors);
		return true;
	case KEY_lang:
		o->asks_language = sp_language_find(arg, &o->language);
		if (!o->asks_language)
			bad_value(state, "--lang: unknown language %s; known: %s", arg,
				  sp_language_names());
		return true;
	case KEY_quiet:
		o->quiet = true;
		return true;
	}
	return false;
}

/* Limits and inputs of a judgement, and reports that repeat. */
static bool take_question(struct sp_options *o, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_wait_thresholds:
		sp_option_thresholds(state, &o->wait_thresholds, arg);
		return true;
	case KEY_workers:
		o->asks_workers = true;
		o->workers_asked = (uint32_t)sp_option_number(state, "workers", arg, 100000);
		return true;
	case KEY_fail_if_slower:
		o->rows.slower_limit = sp_option_percent(state, "fail-if-slower", arg);
		return true;
	case KEY_fail_if_hung:
		o->rows.hung_limit_ns = sp_option_interval(state, "fail-if-hung", arg);
		return true;
	case KEY_against:
		o->against = arg;
		return true;
	case KEY_follow:
		o->follows = true;
		return true;
	case KEY_interval:
		o->interval_ns = sp_option_interval(state, "interval", arg);
		return true;
	case KEY_jobs:
		o->jobs = (unsigned)sp_option_number(state, "jobs", arg, 256);
		return true;
	}
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sp_options *o = state->input;

	if (key == ARGP_KEY_ARG)
		take_argument(o, state, arg);
	else if (key == ARGP_KEY_END)
		sp_options_check(state, o);
	else if (!take_selection(o, key, arg, state) && !take_rows(o, key, arg, state) &&
		 !take_output(o, key, arg, state) && !take_question(o, key, arg, state))
		return ARGP_ERR_UNKNOWN;
	return 0;
}

/* Formats for machines get all rows. */
static uint32_t default_limit(const struct sp_options *o)
{
	bool is_long = (o->needs & SP_NEEDS_LIMIT) != 0;

	return is_long && o->format == SP_FORMAT_TABLE ? TABLE_ROWS : UINT32_MAX;
}

/* --help stands before the other options are read. */
static void choose_help_language(int argc, char **argv)
{
	enum sp_language asked;
	bool is_asked = false;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strncmp(argv[i], "--lang=", 7) == 0)
			is_asked = sp_language_find(argv[i] + 7, &asked);
		else if (strcmp(argv[i], "--lang") == 0 && i + 1 < argc)
			is_asked = sp_language_find(argv[i + 1], &asked);
	}
	sp_translate_into(sp_language_choose(is_asked ? &asked : NULL).language);
}

/* Values that no option gave. */
static void fill_defaults(struct sp_options *options)
{
	if (!options->interval_ns)
		options->interval_ns = INTERVAL_NS;
	options->rows.is_brief = !options->view && !options->exporter && !options->verbose &&
				 options->format == SP_FORMAT_TABLE;
	if (!options->view && !options->exporter)
		options->view = options->explains ? sp_view_find("card") : &sp_views[0];
	if (options->is_digest)
		options->view = sp_view_find("ranks");
	options->needs = options->view ? options->view->needs : options->exporter->needs;
	if (options->is_digest)
		options->needs |= SP_NEEDS_FILES | SP_NEEDS_NAMES;
	if (options->rows.limit == NO_LIMIT_GIVEN)
		options->rows.limit = default_limit(options);
	options->color = wants_color(options->color_when, !options->output);
	if (!options->jobs)
		options->jobs = sp_jobs_default();
}

void sp_options_parse(struct sp_options *options, int argc, char **argv)
{
	static const struct argp argp = {argp_options,
					 parse,
					 "[VIEW] [RUN...]\nexport NAME [RUN...]\ndigest "
					 "[RUN...]\nexplain [CODE "
					 "[RUN]]",
					 doc,
					 NULL,
					 help_text,
					 NULL};
	static const struct sp_help help = {"stageprof-report [OPTION...] [VIEW] [RUN...]\n"
					    "stageprof-report [OPTION...] export NAME [RUN...]\n"
					    "stageprof-report [OPTION...] digest [RUN...] -o "
					    "FILE.spd\n"
					    "stageprof-report [OPTION...] explain [CODE [RUN]]",
					    ABOUT, argp_options, NULL, put_after};
	char **paths = calloc((size_t)argc + 1, sizeof(char *));

	choose_help_language(argc, argv);
	argv[0] = program_invocation_short_name; /* errors begin with it */
	sp_help_answer(&help, argc, argv, false);
	*options = (struct sp_options){
		.rows = {.limit = NO_LIMIT_GIVEN, .slower_limit = -1},
		.selection = {.from_ns = INT64_MIN, .to_ns = INT64_MAX},
		.steps = {.to = UINT32_MAX, .epoch = -1},
		.wait_thresholds = {SP_WAIT_MODERATE, SP_WAIT_SEVERE},
		.by = SP_NAMING_PATH,
		.paths = paths,
	};
	options->width = default_width(&options->width_is_asked);
	argp_err_exit_status = USAGE_STATUS;
	if (!paths || argp_parse(&argp, argc, argv, 0, NULL, options) != 0)
		exit(USAGE_STATUS);
	options->paths = paths;
	fill_defaults(options);
}
