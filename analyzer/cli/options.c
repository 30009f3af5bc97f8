/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/base/jobs.h"
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
#define INTERVAL_NS_MIN INT64_C(100000000)
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

static void print_version(FILE *file, struct argp_state *state)
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
	fprintf(file, "formats   reads traces of format %d to %d\n", SP_FORMAT_VERSION_READ,
		SP_FORMAT_VERSION);
}

/* libc looks for it by name. */
extern void (*argp_program_version_hook)(FILE *file, struct argp_state *state);
__attribute__((visibility("default"))) void (*argp_program_version_hook)(
	FILE *file, struct argp_state *state) = print_version;

#define ABOUT                                                                                      \
	N_("Tells where a training job's time went, from the trace that libstageprof.so left.")
static const char doc[] = ABOUT "\v ";

/* The views of their own line, and the names of the others. */
static void put_views(FILE *file)
{
	char names[1024] = "";
	size_t used = 0;

	sp_help_text(file, N_("Views:"));
	for (unsigned i = 0; i < sp_view_count; i++) {
		const struct sp_view *view = &sp_views[i];

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

/* Ends the program. */
static void refuse(const struct argp_state *state, enum sp_report_error error, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));

static void refuse(const struct argp_state *state, enum sp_report_error error, const char *format,
		   ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), sp_translate(format), args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, " [%s]", sp_report_error(error)->code);
	sp_help_refuse(state, text);
}

#define bad_value(state, ...) refuse((state), SP_REPORT_ERROR_option_value, __VA_ARGS__)
#define bad_pair(state, ...) refuse((state), SP_REPORT_ERROR_option_apart, __VA_ARGS__)
#define bad_word(state, ...) refuse((state), SP_REPORT_ERROR_word_missing, __VA_ARGS__)

static uint64_t parse_number(struct argp_state *state, const char *what, const char *text,
			     uint64_t max)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || n > max)
		bad_value(state, "--%s: %s is not a number up to %llu", what, text,
			  (unsigned long long)max);
	return n;
}

/* Returns the index of the word in a NULL-terminated list. */
static int parse_word(struct argp_state *state, const char *what, const char *text,
		      const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	bad_value(state, "--%s: unknown value %s (see --help)", what, text);
	return 0;
}

static int64_t parse_time(struct argp_state *state, const char *what, const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9},	  {"s", 1e9}, {"ms", 1e6}, {"us", 1e3},
		     {"µs", 1e3}, {"ns", 1},  {"m", 60e9}, {"h", 3600e9}};
	char *end;
	double x = strtod(text, &end);

	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 && fabs(x * units[i].ns) < 9e18)
			return (int64_t)llround(x * units[i].ns);
	bad_value(state, "--%s: %s is not a time (such as 1.5, 300ms, 2m)", what, text);
	return 0;
}

/* "A:B", "A:", ":B" */
static void parse_steps(struct argp_state *state, struct sp_step_selection *steps, const char *text)
{
	const char *colon = strchr(text, ':');
	char from[32];

	if (!colon || (size_t)(colon - text) >= sizeof(from)) {
		bad_value(state, "--steps: %s is not a range (such as 10:20)", text);
		return;
	}
	memcpy(from, text, (size_t)(colon - text));
	from[colon - text] = '\0';
	steps->from = 0; /* of an option before */
	steps->to = UINT32_MAX;
	if (*from)
		steps->from = (uint32_t)parse_number(state, "steps", from, UINT32_MAX);
	if (colon[1])
		steps->to = (uint32_t)parse_number(state, "steps", colon + 1, UINT32_MAX);
	if (steps->to <= steps->from)
		bad_value(state,
			  "--steps: %s has no step: the first number is the first step, "
			  "the second one comes after the last",
			  text);
}

/* "5:20" */
static void parse_thresholds(struct argp_state *state, struct sp_wait_thresholds *ret,
			     const char *text)
{
	char *end = NULL;
	double moderate = strtod(text, &end), severe = 0;
	bool fits = end != text && *end == ':';

	if (fits) {
		const char *second = end + 1;

		severe = strtod(second, &end);
		fits = end != second && *end == '\0' && moderate >= 0 && severe >= moderate &&
		       severe <= 100;
	}
	if (!fits)
		bad_value(state, "--wait-thresholds: %s is not a pair of percents (such as 5:20)",
			  text);
	*ret = (struct sp_wait_thresholds){moderate / 100, severe / 100};
}

static double parse_percent(struct argp_state *state, const char *what, const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(x >= 0 && x <= 1000))
		bad_value(state, "--%s: %s is not a percentage from 0 to 1000 (such as 5%%)", what,
			  text);
	return x / 100;
}

static uint64_t parse_interval(struct argp_state *state, const char *text)
{
	int64_t ns = parse_time(state, "interval", text);

	if (ns < INTERVAL_NS_MIN)
		bad_value(state, "--interval: %s is below 100ms", text);
	return (uint64_t)ns;
}

static void check_follow(const struct argp_state *state, const struct sp_options *o)
{
	if (o->follows && (o->exporter || (o->view && (o->view->needs & SP_NEEDS_END))))
		bad_pair(state, "--follow: not for %s",
			 o->exporter ? o->exporter->name : o->view->name);
	if (o->follows && o->output)
		bad_pair(state, "--follow: writes to stdout, not to a file (-o)");
	if (!o->follows && o->interval_ns)
		bad_pair(state, "--interval: only with --follow");
}

static void check_selection(const struct argp_state *state, const struct sp_options *o)
{
	unsigned needs = o->view ? o->view->needs : 0;
	struct sp_step_selection steps = o->steps;
	const char *asked = NULL;

	if (needs & SP_HAS_EPOCHS)
		steps.epoch = -1;
	if (o->selection.from_ns != INT64_MIN || o->selection.to_ns != INT64_MAX)
		asked = "--from, --to";
	if (!sp_step_selection_is_all(&steps))
		asked = "--steps, --warmup, --epoch";
	if (asked && (needs & SP_IS_WHOLE))
		bad_pair(state, "%s: not for %s, which shows the whole run", asked, o->view->name);
}

static void check_document(const struct argp_state *state, const struct sp_options *o)
{
	if (o->format != SP_FORMAT_TABLE)
		bad_pair(state, "%s: it has a format of its own, so no --format", o->view->name);
	if (!o->output && isatty(STDOUT_FILENO))
		bad_pair(state, "%s: it is no text for a terminal: -o report.%s", o->view->name,
			 o->view->name);
}

/* Rejects options that are valid alone but not together. */
static void check_digest(const struct argp_state *state, const struct sp_options *o)
{
	if (!o->output && isatty(STDOUT_FILENO))
		bad_pair(state, "digest: it is no text for a terminal: -o FILE.spd");
	if (o->selection.pid || o->selection.tid || o->selection.from_ns != INT64_MIN ||
	    o->selection.to_ns != INT64_MAX || !sp_step_selection_is_all(&o->steps))
		bad_pair(state, "digest: of whole runs, so no selection");
	if (o->follows || o->format != SP_FORMAT_TABLE)
		bad_pair(state, "digest: it has a format of its own, so no --format and --follow");
}

static void check_line(const struct argp_state *state, struct sp_options *o)
{
	bool compares = o->view && (o->view->needs & SP_NEEDS_RUNS);
	unsigned runs = state->arg_num - (o->exporter ? 2 : o->view || o->is_digest ? 1 : 0);

	if (o->explains) {
		if (state->arg_num > 3)
			bad_pair(state, "explain: one code, and one RUN");
		return;
	}
	if (o->is_digest)
		check_digest(state, o);
	if (o->is_export && !o->exporter)
		bad_word(state, "export what? (see --help)");
	if (o->exporter && o->exporter->is_binary && !o->output && isatty(STDOUT_FILENO))
		bad_pair(state, "export %s is not for a terminal: -o FILE", o->exporter->name);
	if (o->exporter && (o->exporter->needs & SP_IS_FOLDER) &&
	    (!o->output || strcmp(o->output, "-") == 0))
		bad_pair(state, "export %s writes a folder: -o FOLDER", o->exporter->name);
	if (runs == 0 && !sp_run_newest(o->newest))
		bad_word(state, "no RUN given, and no run*.zst here");
	if (runs == 0)
		*o->paths++ = o->newest;
	if (compares && runs == 1)
		bad_word(state, "%s: only one RUN given; the second is missing", o->view->name);
	if (compares && runs > SP_RUNS_MAX)
		bad_word(state, "%s: %u runs given; %u fit beside each other", o->view->name, runs,
			 SP_RUNS_MAX);
	check_follow(state, o);
	check_selection(state, o);
	if (o->view && (o->view->needs & SP_IS_DOCUMENT))
		check_document(state, o);
	if (o->table && (o->exporter || o->format != SP_FORMAT_CSV))
		bad_pair(state, "--table: only with --format=csv");
	if (o->against && o->view && strcmp(o->view->name, "card") != 0)
		bad_pair(state, "--against: only for the view card");
	if (o->rows.symbols && !(o->view && (o->view->needs & SP_NEEDS_SYMBOLS)))
		bad_pair(state, "--symbols: only for the views stacks and sync");
	if (o->by_is_given && o->view && strcmp(o->view->name, "functions") == 0 &&
	    !o->by_is_of_functions)
		bad_pair(state, "--by: functions takes function, line, module, library or calls");
	if ((o->rows.phase || o->by_is_of_functions) &&
	    !(o->view && strcmp(o->view->name, "functions") == 0))
		bad_pair(state, "--phase, --by=function, line, module, library and calls: only for "
				"the view functions");
	if (!compares && o->rows.slower_limit >= 0)
		bad_pair(state, "--fail-if-slower: only for the view compare");
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
	o->exporter = sp_exporter_find(name);
	if (!o->exporter)
		bad_word(state, "export %s: there is no such export (see --help)", name);
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
	/* One word may be a view, and the first "export"; a file of that name is given as ./NAME.
	 */
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
	if (sp_word_is_lost(arg))
		refuse_word(state, arg);
	*o->paths++ = arg;
}

/* path, extension, function, line, module */
static void parse_by(struct sp_options *o, int word)
{
	o->by_is_of_functions = word >= 2;
	o->by_is_given = true;
	if (word < 2)
		o->by = word ? SP_NAMING_EXTENSION : SP_NAMING_PATH;
	else
		o->rows.function_rows = (enum sp_function_rows)(word - 2);
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

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = {"table", "json", "csv", "md", NULL};
	static const char *const colors[] = {"auto", "always", "never", NULL};
	static const char *const bys[] = {"path",   "extension", "function", "line",
					  "module", "library",	 "calls",    NULL};
	struct sp_options *o = state->input;

	switch (key) {
	case KEY_format:
		o->format = (enum sp_format)parse_word(state, "format", arg, formats);
		return 0;
	case KEY_output:
		o->output = arg;
		return 0;
	case KEY_force:
		o->force = true;
		return 0;
	case KEY_table:
		o->table = arg;
		return 0;
	case KEY_process:
		o->selection.pid = (uint32_t)parse_number(state, "process", arg, UINT32_MAX);
		return 0;
	case KEY_thread:
		o->selection.tid = (uint32_t)parse_number(state, "thread", arg, UINT32_MAX);
		return 0;
	case KEY_from:
		o->selection.from_ns = parse_time(state, "from", arg);
		return 0;
	case KEY_to:
		o->selection.to_ns = parse_time(state, "to", arg);
		return 0;
	case KEY_steps:
		parse_steps(state, &o->steps, arg);
		return 0;
	case KEY_warmup:
		o->steps.warmup = (int64_t)parse_number(state, "warmup", arg, UINT32_MAX);
		return 0;
	case KEY_epoch:
		o->steps.epoch = (int64_t)parse_number(state, "epoch", arg, UINT32_MAX);
		return 0;
	case KEY_wait_thresholds:
		parse_thresholds(state, &o->wait_thresholds, arg);
		return 0;
	case KEY_workers:
		o->asks_workers = true;
		o->workers_asked = (uint32_t)parse_number(state, "workers", arg, 100000);
		return 0;
	case KEY_limit:
		o->rows.limit = UINT32_MAX;
		if (strcmp(arg, "all") != 0)
			o->rows.limit = (uint32_t)parse_number(state, "limit", arg, UINT32_MAX);
		if (o->rows.limit == NO_LIMIT_GIVEN)
			bad_value(state, "--limit: the least limit is one row");
		return 0;
	case KEY_sort:
		o->rows.sort = arg;
		return 0;
	case KEY_symbols:
		o->rows.symbols = true;
		return 0;
	case KEY_by:
		parse_by(o, parse_word(state, "by", arg, bys));
		return 0;
	case KEY_phase:
		parse_phase(state, o, arg);
		return 0;
	case KEY_width:
		o->width = (unsigned)parse_number(state, "width", arg, 10000);
		o->width_is_asked = true;
		return 0;
	case KEY_color:
		o->color_when = parse_word(state, "color", arg, colors);
		return 0;
	case KEY_fail_if_slower:
		o->rows.slower_limit = parse_percent(state, "fail-if-slower", arg);
		return 0;
	case KEY_against:
		o->against = arg;
		return 0;
	case KEY_follow:
		o->follows = true;
		return 0;
	case KEY_interval:
		o->interval_ns = parse_interval(state, arg);
		return 0;
	case KEY_jobs:
		o->jobs = (unsigned)parse_number(state, "jobs", arg, 256);
		return 0;
	case KEY_lang:
		o->asks_language = sp_language_find(arg, &o->language);
		if (!o->asks_language)
			bad_value(state, "--lang: unknown language %s; known: %s", arg,
				  sp_language_names());
		return 0;
	case KEY_quiet:
		o->quiet = true;
		return 0;
	case KEY_all:
		o->rows.is_full = true;
		return 0;
	case KEY_verbose:
		o->verbose = o->rows.is_full = true;
		return 0;
	case ARGP_KEY_ARG:
		take_argument(o, state, arg);
		return 0;
	case ARGP_KEY_END:
		check_line(state, o);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
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
