/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill TEMPLATE [LANGUAGE]: the template on stdout, with each line "@NAME@" replaced by what the
 * product's own tables say, in this language. Run while building, for man pages and the shells'
 * completions: what they list is what the programs take.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/language.h"
#include "analyzer/text/translate.h"
#include "scripts/tables/completion.h"
#include "scripts/tables/tables.h"

static const struct entry checks[] = {
#define SP_CHECK(name, about) {#name, about},
#include "scripts/launcher/doctor/checks.def"
#undef SP_CHECK
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
	put_text(_(help));
	putchar('\n');
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
	put_text(_(o->help));
	putchar('\n');
}

static void page_report_options(void)
{
	for (size_t i = 0; i < report_option_count; i++)
		put_option(&report_options[i], report_options[i].argument, NULL);
}

static void page_settings(void)
{
	for (size_t i = 0; i < setting_count; i++) {
		struct option o = settings[i];

		o.key = strcmp(o.name, "output") == 0 ? 'o' : 0;
		if (!is_no_plain_option(&o))
			put_option(&o, "VALUE", o.argument);
	}
}

static void page_synopsis(void)
{
	for (size_t i = 0; i < command_count; i++) {
		printf("%s.B stageprof %s\n", i ? ".br\n" : "", commands[i].name);
		if (!*commands[i].arguments)
			continue;
		put_text(commands[i].arguments);
		putchar('\n');
	}
}

static void page_commands(void)
{
	for (size_t i = 0; i < command_count; i++)
		put_item(commands[i].name, commands[i].help);
}

static void put_entries(const struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_item(entries[i].name, entries[i].help);
}

static void page_views(void)
{
	put_entries(views, view_count);
}

static void page_exporters(void)
{
	put_entries(exporters, exporter_count);
}

static void page_checks(void)
{
	put_entries(checks, COUNT(checks));
}

static void page_troubles(void)
{
	for (size_t i = 0; i < COUNT(troubles); i++) {
		printf(".TP\n.B %s\n", troubles[i].code);
		put_text(_(troubles[i].what));
		printf(" \\fIVALUE\\fR: \\fIREASON\\fR%s\n", _("."));
		put_text(_(troubles[i].fix));
		printf("%s\n", _("."));
	}
}

static void page_report_troubles(void)
{
	for (size_t i = 0; i < COUNT(report_troubles); i++) {
		const char *why = report_troubles[i].what;

		printf(".TP\n.B %s\n", report_troubles[i].code);
		put_text(*why ? _(why) : _("the system's own text"));
		printf("%s\n%s", _("."), _("Do: "));
		put_text(_(report_troubles[i].fix));
		printf("%s\n", _("."));
	}
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
	{"@bash-values@\n", bash_values},
	{"@bash-report-options@\n", bash_report_options},
	{"@bash-settings@\n", bash_settings},
	{"@bash-views@\n", bash_views},
	{"@bash-exporters@\n", bash_exporters},
	{"@bash-commands@\n", bash_commands},
	{"@zsh-report-options@\n", zsh_report_options},
	{"@zsh-settings@\n", zsh_settings},
	{"@zsh-views@\n", zsh_views},
	{"@zsh-exporters@\n", zsh_exporters},
	{"@zsh-commands@\n", zsh_commands},
	{"@fish-report@\n", fish_report},
	{"@fish-launcher@\n", fish_launcher},
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
	FILE *template = argc == 2 || argc == 3 ? fopen(argv[1], "r") : NULL;
	enum sp_language language = SP_LANGUAGE_en;
	char *line = NULL;
	size_t room = 0;
	int wrong = 0;

	if (!template || (argc == 3 && !sp_language_find(argv[2], &language))) {
		fprintf(stderr, "usage: fill TEMPLATE [LANGUAGE]\n");
		return 2;
	}
	sp_translate_into(language);
	while (getline(&line, &room, template) > 0)
		wrong |= fill(line);
	free(line);
	fclose(template);
	return wrong || fflush(stdout) != 0;
}
