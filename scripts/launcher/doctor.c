/*
 * stageprof doctor: what would keep stageprof from seeing COMMAND, and what helps.
 */
#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/json.h"
#include "analyzer/text.h"
#include "analyzer/translate.h"
#include "preload/config.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/patient.h"
#include "scripts/launcher/probe.h"
#include "scripts/launcher/shell.h"

#define LIBRARY_KEY 1
#define TITLE_COLUMNS 10

struct doctor_options {
	const char *given_library;
	bool json;
	char **command;
};

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0, "table (default) or json", 0},
	{"library", LIBRARY_KEY, "FILE", 0,
	 "this libstageprof.so (default: the one installed with stageprof)", 0},
	{0},
};

static const char doc[] =
	"Tells what would keep stageprof from seeing COMMAND (default: python3), and what helps. "
	"COMMAND itself is not "
	"run: where it is Python, a child of the same interpreter reads a file, decodes an image "
	"and imports what "
	"trainers import, under the library, and its trace is held against what it did.\vChecks:\n"
#define SP_CHECK(name, about) "  " #name ": " about "\n"
#include "scripts/launcher/checks.def"
#undef SP_CHECK
	"\nEach is ok, warn (something will be missing in the report), fail (nothing will be "
	"recorded) or skip, and says "
	"what to do. Exit status: 0, 1 where a check failed, 2 for a wrong command line.";

static const struct {
	const char *name;
	void (*check)(const struct sp_patient *p, struct sp_finding *f);
} checks[] = {
#define SP_CHECK(name, about) {#name, sp_check_##name},
#include "scripts/launcher/checks.def"
#undef SP_CHECK
};
#define CHECK_COUNT (sizeof(checks) / sizeof(checks[0]))

static const char *const verdicts[] = {"ok", "skip", "warn", "fail"};

void sp_find(struct sp_finding *f, enum sp_verdict verdict, const char *fix, const char *format,
	     ...)
{
	va_list args;

	f->verdict = verdict;
	f->fix = sp_translate(fix);
	format = sp_translate(format);
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_options *o = state->input;

	switch (key) {
	case 'f':
		o->json = strcmp(arg, "json") == 0;
		if (!o->json && strcmp(arg, "table") != 0)
			argp_error(state, "--format: unknown value %s (see --help)", arg);
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

static void show_one(const char *name, const struct sp_finding *f)
{
	char text[4 * sizeof(f->text)];

	sp_text_escape(text, sizeof(text), f->text, strlen(f->text));
	printf("%-4s  %-*s  %s\n", verdicts[f->verdict], TITLE_COLUMNS, name, text);
	if (f->fix)
		printf("      %-*s  -> %s\n", TITLE_COLUMNS, "", f->fix);
	fflush(stdout);
}

static void show_json(const struct sp_patient *p, const struct sp_finding *findings,
		      enum sp_verdict worst)
{
	struct sp_json j = {.file = stdout};

	sp_json_open(&j, NULL, '{');
	sp_json_count(&j, "schema_version", 1);
	sp_json_string(&j, "command", p->word, strlen(p->word));
	sp_json_string(&j, "verdict", verdicts[worst], strlen(verdicts[worst]));
	sp_json_open(&j, "checks", '[');
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		const struct sp_finding *f = &findings[i];

		sp_json_open(&j, NULL, '{');
		sp_json_string(&j, "name", checks[i].name, strlen(checks[i].name));
		sp_json_string(&j, "verdict", verdicts[f->verdict], strlen(verdicts[f->verdict]));
		sp_json_string(&j, "text", f->text, strlen(f->text));
		if (f->fix)
			sp_json_string(&j, "fix", f->fix, strlen(f->fix));
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

static void show_end(const struct doctor_options *o, enum sp_verdict worst)
{
	static const char *const ends[] = {
		N_("all is well"),
		N_("all is well"),
		N_("stageprof will work; what is said above will be missing"),
		N_("stageprof will not work before what failed above is mended"),
	};

	printf("\n%s\n", _(ends[worst]));
	fflush(stdout);
	if (worst < SP_VERDICT_FAIL)
		show_next(o);
}

static int examine(const struct doctor_options *o, struct sp_patient *p)
{
	static struct sp_finding findings[CHECK_COUNT];
	enum sp_verdict worst = SP_VERDICT_OK;

	sp_translate_pause(o->json);
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		checks[i].check(p, &findings[i]);
		if (findings[i].verdict > worst)
			worst = findings[i].verdict;
		if (!o->json)
			show_one(checks[i].name, &findings[i]);
	}
	if (o->json)
		show_json(p, findings, worst);
	else
		show_end(o, worst);
	if (fflush(stdout) != 0) {
		fprintf(stderr, "%s\n", _("stageprof: not everything could be written to stdout"));
		return SP_STATUS_FAILED;
	}
	return worst == SP_VERDICT_FAIL ? SP_STATUS_FAILED : SP_STATUS_OK;
}

int sp_command_doctor(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "[--] [COMMAND...]", doc, NULL,
					 NULL,	  NULL};
	static struct sp_patient patient;
	struct doctor_options o = {0};
	int status;

	argv[0] = (char *)"stageprof doctor";
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o) != 0)
		return SP_STATUS_USAGE;
	sp_config_read(environ);
	patient.word = o.command ? o.command[0] : "python3";
	patient.lookup = sp_program_look(&patient.program, patient.word);
	patient.has_library = sp_install_library(patient.preload, o.given_library);
	patient.has_report = sp_install_report(patient.report);
	sp_probe_run(&patient);
	status = examine(&o, &patient);
	sp_probe_finish(&patient);
	return status;
}
