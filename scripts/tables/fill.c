/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill TEMPLATE: the template on stdout, with each line "@NAME@" replaced by what the product's own
 * tables say. Run while building, for man pages and the shell's completion: what they list is what
 * the programs take.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option {
	const char *name, *argument, *help;
	int key;
};

static const struct option report_options[] = {
#define SP_OPTION(id, name, key, argument, help) {name, argument, help, key},
#include "analyzer/cli/options.def"
#undef SP_OPTION
};

static const struct option settings[] = {
#define SP_SETTING(field, variable, form, meaning) {#field, variable, meaning, 0},
#include "preload/settings/config.def"
#undef SP_SETTING
};

struct entry {
	const char *name, *help;
};

static const struct entry views[] = {
#define SP_VIEW(name, needs, help) {#name, help},
#include "analyzer/views/views.def"
#undef SP_VIEW
};

static const struct entry exporters[] = {
#define SP_EXPORTER(name, binary, needs, help, next) {#name, help},
#include "analyzer/exporters/exporters.def"
#undef SP_EXPORTER
};

static const struct entry checks[] = {
#define SP_CHECK(name, about) {#name, about},
#include "scripts/launcher/checks.def"
#undef SP_CHECK
};

static const struct {
	const char *name, *arguments, *help;
} commands[] = {
#define SP_COMMAND(name, arguments, help) {#name, arguments, help},
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
};

static const struct {
	const char *code, *what, *fix;
} troubles[] = {
#define SP_LAUNCHER_ERROR(id, code, what, fix) {code, what, fix},
#include "scripts/launcher/launcher_errors.def"
#undef SP_LAUNCHER_ERROR
};

static const struct {
	const char *code, *what, *fix;
} report_troubles[] = {
#define SP_REPORT_ERROR(id, code, why, fix) {code, why, fix},
#include "analyzer/text/errors.def"
#undef SP_REPORT_ERROR
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Text of a page: troff's own characters stand for themselves. */
static void put_text(const char *text)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			fputs("\\e", stdout);
		else if (*p == '-')
			fputs("\\-", stdout);
		else if ((*p == '.' || *p == '\'') && p == text)
			printf("\\&%c", *p);
		else
			putchar(*p);
	}
}

static void put_item(const char *name, const char *help)
{
	printf(".TP\n.B ");
	put_text(name);
	putchar('\n');
	put_text(help);
	putchar('\n');
}

static int is_unset_by_hand(const struct option *setting)
{
	return strcmp(setting->name, "run") == 0;
}

/* variable: what the option sets, or NULL. */
static void put_option(const struct option *o, const char *argument, const char *variable)
{
	printf(".TP\n");
	if (o->key > 0 && o->key < 128 && isalpha(o->key))
		printf("\\fB\\-%c\\fR, ", o->key);
	printf("\\fB\\-\\-");
	put_text(o->name);
	printf("\\fR");
	if (argument)
		printf("=\\fI%s\\fR", argument);
	if (variable)
		printf(" (\\fB%s\\fR)", variable);
	putchar('\n');
	put_text(o->help);
	putchar('\n');
}

static void page_report_options(void)
{
	for (size_t i = 0; i < COUNT(report_options); i++)
		put_option(&report_options[i], report_options[i].argument, NULL);
}

static void page_settings(void)
{
	for (size_t i = 0; i < COUNT(settings); i++) {
		struct option o = settings[i];

		o.key = strcmp(o.name, "output") == 0 ? 'o' : 0;
		if (!is_unset_by_hand(&o))
			put_option(&o, "VALUE", o.argument);
	}
}

static void page_synopsis(void)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		printf("%s.B stageprof %s\n", i ? ".br\n" : "", commands[i].name);
		put_text(commands[i].arguments);
		putchar('\n');
	}
}

static void page_commands(void)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		put_item(commands[i].name, commands[i].help);
}

static void put_entries(const struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_item(entries[i].name, entries[i].help);
}

static void page_views(void)
{
	put_entries(views, COUNT(views));
}

static void page_exporters(void)
{
	put_entries(exporters, COUNT(exporters));
}

static void page_checks(void)
{
	put_entries(checks, COUNT(checks));
}

static void page_troubles(void)
{
	for (size_t i = 0; i < COUNT(troubles); i++) {
		printf(".TP\n.B %s\n", troubles[i].code);
		put_text(troubles[i].what);
		printf(" \\fIVALUE\\fR: \\fIREASON\\fR.\n");
		put_text(troubles[i].fix);
		printf(".\n");
	}
}

static void page_report_troubles(void)
{
	for (size_t i = 0; i < COUNT(report_troubles); i++) {
		const char *why = report_troubles[i].what;

		printf(".TP\n.B %s\n", report_troubles[i].code);
		put_text(*why ? why : "the system's own text");
		printf(".\nDo: ");
		put_text(report_troubles[i].fix);
		printf(".\n");
	}
}

static void words_options(const char *variable, const struct option *options, size_t count)
{
	printf("\tlocal %s='", variable);
	for (size_t i = 0; i < count; i++)
		if (!is_unset_by_hand(&options[i]))
			printf("--%s%s ", options[i].name, options[i].argument ? "=" : "");
	printf("--help --version'\n");
}

static void words_report_options(void)
{
	words_options("options", report_options, COUNT(report_options));
}

static void words_settings(void)
{
	words_options("options", settings, COUNT(settings));
}

static void words_views(void)
{
	printf("\tlocal views='explain export");
	for (size_t i = 0; i < COUNT(views); i++)
		printf(" %s", views[i].name);
	printf("'\n");
}

static void words_exporters(void)
{
	printf("\tlocal exporters='");
	for (size_t i = 0; i < COUNT(exporters); i++)
		printf("%s%s", i ? " " : "", exporters[i].name);
	printf("'\n");
}

static void words_commands(void)
{
	printf("\tlocal commands='");
	for (size_t i = 0; i < COUNT(commands); i++)
		printf("%s%s", i ? " " : "", commands[i].name);
	printf("'\n");
}

static const struct {
	const char *name;
	void (*put)(void);
} places[] = {
	{"@report-options@\n", page_report_options},
	{"@settings@\n", page_settings},
	{"@synopsis@\n", page_synopsis},
	{"@commands@\n", page_commands},
	{"@views@\n", page_views},
	{"@exporters@\n", page_exporters},
	{"@checks@\n", page_checks},
	{"@troubles@\n", page_troubles},
	{"@report_troubles@\n", page_report_troubles},
	{"@words-report-options@\n", words_report_options},
	{"@words-settings@\n", words_settings},
	{"@words-views@\n", words_views},
	{"@words-exporters@\n", words_exporters},
	{"@words-commands@\n", words_commands},
};

static int fill(const char *line)
{
	if (*line != '@')
		return fputs(line, stdout) < 0;
	for (size_t i = 0; i < COUNT(places); i++)
		if (strcmp(line, places[i].name) == 0) {
			places[i].put();
			return 0;
		}
	fprintf(stderr, "fill: no such place: %s", line);
	return 1;
}

int main(int argc, char **argv)
{
	FILE *template = argc == 2 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t room = 0;
	int wrong = 0;

	if (!template) {
		fprintf(stderr, "usage: fill TEMPLATE\n");
		return 2;
	}
	while (getline(&line, &room, template) > 0)
		wrong |= fill(line);
	free(line);
	fclose(template);
	return wrong || fflush(stdout) != 0;
}
