/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof doctor: lists the reasons why stageprof would not record COMMAND, and their fixes.
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/text/help.h"
#include "analyzer/text/json.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "preload/settings/config.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/doctor/doctor_context.h"
#include "scripts/launcher/doctor/probe.h"
#include "scripts/launcher/shell.h"

#define LIBRARY_KEY 1
#define TITLE_COLUMNS 10

struct doctor_options {
	const char *given_library;
	bool json;
	char **command;
};

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0, N_("table (default) or json"), 0},
	{"library", LIBRARY_KEY, "FILE", 0,
	 N_("use this libstageprof.so (default: the one installed with stageprof)"), 0},
	{0},
};

#define ABOUT                                                                                      \
	N_("Lists the reasons why stageprof would not record COMMAND (default: python3), and "     \
	   "their fixes. Doctor does not run COMMAND. If COMMAND is Python, doctor runs a child "  \
	   "of the same interpreter under the library, which reads a file, decodes an image and "  \
	   "imports the modules of trainers, and compares its trace with its calls.")
#define STATUS                                                                                     \
	N_("Each is ok, warn (something will be missing in the report), fail (nothing will be "    \
	   "recorded) or skip, and says what to do. Exit status: 0, 1 where a check failed, 2 "    \
	   "for a wrong command line.")
static const char doc[] = ABOUT "\vChecks:\n"
#define SP_CHECK(name, about) "  " #name ": " about "\n"
#include "scripts/launcher/doctor/checks.def"
#undef SP_CHECK
				"\n" STATUS;

static void put_after(FILE *file)
{
	sp_help_text(file, N_("Checks:"));
#define SP_CHECK(name, about) sp_help_entry(file, #name, about);
#include "scripts/launcher/doctor/checks.def"
#undef SP_CHECK
	fputs("\n", file);
	sp_help_text(file, STATUS);
}

static const struct {
	const char *name;
	void (*check)(const struct sp_doctor_context *context, struct sp_check_result *result);
} checks[] = {
#define SP_CHECK(name, about) {#name, sp_check_##name},
#include "scripts/launcher/doctor/checks.def"
#undef SP_CHECK
};
#define CHECK_COUNT (sizeof(checks) / sizeof(checks[0]))

static const char *const statuses[] = {"ok", "skip", "warn", "fail"};

static void refuse_format(const struct argp_state *state, const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), _("--%s: unknown value %s (see --help)"), "format", value);
	sp_help_refuse(state, text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_options *o = state->input;

	switch (key) {
	case 'f':
		o->json = strcmp(arg, "json") == 0;
		if (!o->json && strcmp(arg, "table") != 0)
			refuse_format(state, arg);
		return 0;
	case LIBRARY_KEY:
		o->given_library = arg;
		return 0;
	case ARGP_KEY_ARG:
		o->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void show_one(const char *name, const struct sp_check_result *result)
{
	char text[4 * sizeof(result->text)];

	sp_text_escape(text, sizeof(text), result->text, strlen(result->text));
	printf("%-4s  %-*s  %s\n", statuses[result->status], TITLE_COLUMNS, name, text);
	if (result->fix)
		printf("      %-*s  -> %s\n", TITLE_COLUMNS, "", result->fix);
	fflush(stdout);
}

static void show_json(const struct sp_doctor_context *context,
		      const struct sp_check_result *results, enum sp_check_status worst)
{
	struct sp_json j = {.file = stdout};

	sp_json_open(&j, NULL, '{');
	sp_json_count(&j, "schema_version", 1);
	sp_json_string(&j, "command", context->word, strlen(context->word));
	sp_json_string(&j, "verdict", statuses[worst], strlen(statuses[worst]));
	sp_json_open(&j, "checks", '[');
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		const struct sp_check_result *result = &results[i];

		sp_json_open(&j, NULL, '{');
		sp_json_string(&j, "name", checks[i].name, strlen(checks[i].name));
		sp_json_string(&j, "verdict", statuses[result->status],
			       strlen(statuses[result->status]));
		sp_json_string(&j, "text", result->text, strlen(result->text));
		if (result->fix)
			sp_json_string(&j, "fix", result->fix, strlen(result->fix));
		else
			sp_json_null(&j, "fix");
		sp_json_close(&j, '}');
	}
	sp_json_close(&j, ']');
	sp_json_close(&j, '}');
	putchar('\n');
}

static void show_next(const struct doctor_options *o)
{
	static char *stand_in[] = {(char *)"python3", (char *)"train.py", NULL};
	char quoted[4096];

	fprintf(stderr, "%s\n    stageprof run --", _("stageprof: next:"));
	for (char **word = o->command ? o->command : stand_in; *word; word++)
		fprintf(stderr, " %s", sp_shell_quote(quoted, sizeof(quoted), *word));
	fputc('\n', stderr);
}

static void show_end(const struct doctor_options *o, enum sp_check_status worst)
{
	static const char *const ends[] = {
		N_("all checks passed"),
		N_("all checks passed"),
		N_("stageprof will work; the report will lack the parts named above"),
		N_("stageprof will not work until the failures above are fixed"),
	};

	printf("\n%s\n", _(ends[worst]));
	fflush(stdout);
	if (worst < SP_CHECK_FAIL)
		show_next(o);
}

static int examine(const struct doctor_options *o, struct sp_doctor_context *context)
{
	static struct sp_check_result results[CHECK_COUNT];
	enum sp_check_status worst = SP_CHECK_OK;

	sp_translate_pause(o->json);
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		checks[i].check(context, &results[i]);
		if (results[i].status > worst)
			worst = results[i].status;
		if (!o->json)
			show_one(checks[i].name, &results[i]);
	}
	if (o->json)
		show_json(context, results, worst);
	else
		show_end(o, worst);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "%s\n",
			_("stageprof: the output could not be written completely to stdout"));
		return SP_STATUS_FAILED;
	}
	return worst == SP_CHECK_FAIL ? SP_STATUS_FAILED : SP_STATUS_OK;
}

int sp_command_doctor(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "[--] [COMMAND...]", doc, NULL,
					 NULL,	  NULL};
	static const struct sp_help help = {"stageprof doctor [OPTION...] [--] [COMMAND...]", ABOUT,
					    options, NULL, put_after};
	static struct sp_doctor_context context;
	struct doctor_options o = {0};
	int status;

	argv[0] = (char *)"stageprof doctor";
	sp_help_answer(&help, argc, argv, true);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o) != 0)
		return SP_STATUS_USAGE;
	sp_config_read(environ);
	context.command = o.command ? sp_program_with_python(o.command) : NULL;
	context.word = context.command ? context.command[0] : "python3";
	context.lookup = sp_program_look(&context.program, context.word);
	context.has_library = sp_install_library(context.preload, o.given_library);
	context.has_report = sp_install_report(context.report);
	sp_probe_run(&context);
	status = examine(&o, &context);
	sp_probe_finish(&context);
	return status;
}
