/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/tables/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "scripts/tables/tables.h"

static char letter_of(const struct option *o)
{
	return (char)(o->key > 0 && o->key < 128 && isalpha(o->key) ? o->key : 0);
}

/* Text inside single quotes; zsh also needs a backslash before the characters of `special`. */
static void put_quoted(const char *text, const char *quote, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, stdout);
		else if (strchr(special, *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void bash_values_of(const char *command, const struct option *options, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *words = values_of(command, &options[i]);

		/* --format has other values for doctor: the template hands them on. */
		if (*words && strcmp(options[i].name, "format") != 0)
			printf("\t--%s) echo %s ;;\n", options[i].name, words);
	}
}

void bash_values(void)
{
	bash_values_of("report", report_options, report_option_count);
	bash_values_of("run", settings, setting_count);
}

static void bash_options(const struct option *options, size_t count)
{
	printf("\tlocal options='");
	for (size_t i = 0; i < count; i++)
		if (!is_no_plain_option(&options[i]))
			printf("--%s%s ", options[i].name, options[i].argument ? "=" : "");
	printf("--help --version'\n");
}

void bash_report_options(void)
{
	bash_options(report_options, report_option_count);
}

void bash_settings(void)
{
	bash_options(settings, setting_count);
}

void bash_views(void)
{
	printf("\tlocal views='explain export digest");
	for (size_t i = 0; i < view_count; i++)
		printf(" %s", views[i].name);
	printf("'\n");
}

void bash_exporters(void)
{
	printf("\tlocal exporters='");
	for (size_t i = 0; i < exporter_count; i++)
		printf("%s%s", i ? " " : "", exporters[i].name);
	printf("'\n");
}

void bash_commands(void)
{
	printf("\tlocal commands='");
	for (size_t i = 0; i < command_count; i++)
		printf("%s%s", i ? " " : "", commands[i].name);
	printf("'\n");
}

/* One specification of _arguments: '(-f --format)'{-f+,--format=}'[HELP]:format:(WORDS)'. */
static void zsh_option(const char *command, const struct option *o)
{
	const char *words = values_of(command, o);
	char letter = letter_of(o);

	printf("\t\t");
	if (letter)
		printf("'(-%c --%s)'{-%c%s,--%s%s}'", letter, o->name, letter,
		       o->argument ? "+" : "", o->name, o->argument ? "=" : "");
	else
		printf("'--%s%s", o->name, o->argument ? "=" : "");
	putchar('[');
	put_quoted(o->help, "'\\''", "[]:\\");
	putchar(']');
	if (o->argument && *words)
		printf(":%s:(%s)", o->name, words);
	else if (o->argument)
		printf(":%s:_files", o->name);
	printf("' \\\n");
}

static void zsh_options(const char *command, const struct option *options, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_no_plain_option(&options[i]))
			zsh_option(command, &options[i]);
}

void zsh_report_options(void)
{
	zsh_options("report", report_options, report_option_count);
}

void zsh_settings(void)
{
	zsh_options("run", settings, setting_count);
}

/* 'NAME:HELP' of _describe */
static void zsh_item(const char *name, const char *help)
{
	printf("\t\t'%s:", name);
	put_quoted(help, "'\\''", "\\:");
	printf("'\n");
}

void zsh_views(void)
{
	for (size_t i = 0; i < view_count; i++)
		zsh_item(views[i].name, views[i].help);
}

void zsh_exporters(void)
{
	for (size_t i = 0; i < exporter_count; i++)
		zsh_item(exporters[i].name, exporters[i].help);
}

void zsh_commands(void)
{
	for (size_t i = 0; i < command_count; i++)
		zsh_item(commands[i].name, commands[i].help);
}

static void fish_help(const char *help)
{
	printf(" -d '");
	put_quoted(help, "\\'", "\\");
	printf("'\n");
}

/* before: "complete -c PROGRAM", and a condition */
static void fish_options(const char *before, const char *command, const struct option *options,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct option *o = &options[i];
		const char *words = values_of(command, o);

		if (is_no_plain_option(o))
			continue;
		printf("%s -l %s", before, o->name);
		if (letter_of(o))
			printf(" -s %c", letter_of(o));
		if (o->argument && *words)
			printf(" -x -a '%s'", words);
		else if (o->argument)
			printf(" -r");
		fish_help(o->help);
	}
}

static void fish_items(const char *before, const struct entry *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		printf("%s -a %s", before, items[i].name);
		fish_help(items[i].help);
	}
}

void fish_report(void)
{
	fish_options("complete -c stageprof-report", "report", report_options, report_option_count);
	fish_items("complete -c stageprof-report -n '_stageprof_is_first 1'", views, view_count);
	fish_items("complete -c stageprof-report -f -n '_stageprof_is_after export'", exporters,
		   exporter_count);
}

void fish_launcher(void)
{
	for (size_t i = 0; i < command_count; i++) {
		printf("complete -c stageprof -f -n '_stageprof_is_first 1' -a %s",
		       commands[i].name);
		fish_help(commands[i].help);
	}
	fish_options("complete -c stageprof -n '_stageprof_command run'", "run", settings,
		     setting_count);
	fish_options("complete -c stageprof -n '_stageprof_command report'", "report",
		     report_options, report_option_count);
	fish_items("complete -c stageprof -n '_stageprof_command report; and "
		   "_stageprof_is_first 2'",
		   views, view_count);
	fish_items("complete -c stageprof -f -n '_stageprof_command report; and "
		   "_stageprof_is_after export'",
		   exporters, exporter_count);
}
