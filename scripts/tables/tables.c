/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/tables/tables.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const struct option report_options[] = {
#define SP_OPTION(id, name, key, argument, help) {name, argument, help, key, ""},
#include "analyzer/cli/options.def"
#undef SP_OPTION
};
const size_t report_option_count = COUNT(report_options);

const struct option settings[] = {
#define SP_SETTING(field, variable, form, meaning) {#field, variable, meaning, 0, form},
#include "preload/settings/config.def"
#undef SP_SETTING
};
const size_t setting_count = COUNT(settings);

const struct entry views[] = {
#define SP_VIEW(name, needs, help) {#name, help},
#include "analyzer/views/views.def"
};
const size_t view_count = COUNT(views);

const struct entry exporters[] = {
#define SP_EXPORTER(name, binary, needs, help, next) {#name, help},
#include "analyzer/exporters/exporters.def"
#undef SP_EXPORTER
};
const size_t exporter_count = COUNT(exporters);

const struct command commands[] = {
#define SP_COMMAND(name, arguments, help) {#name, arguments, help},
#include "scripts/launcher/commands.def"
#undef SP_COMMAND
};
const size_t command_count = COUNT(commands);

static const struct {
	const char *command, *option, *words;
} values[] = {
#define SP_VALUES(command, option, words) {command, option, words},
#include "scripts/tables/values.def"
#undef SP_VALUES
};

static const char languages[] = "en"
#define SP_LANGUAGE(name, also, plural) " " #name
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
	;

bool is_no_plain_option(const struct option *setting)
{
	return strcmp(setting->name, "sample") == 0;
}

/* "auto|map|write" lists values; "FIRST-LAST" and "0|TIME" describe others. */
static bool is_list(const char *form)
{
	for (const char *p = form; *p; p++)
		if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '|')
			return false;
	return *form != '\0';
}

const char *values_of(const char *command, const struct option *option)
{
	static char words[256];

	if (strcmp(option->name, "lang") == 0)
		return languages;
	for (size_t i = 0; i < COUNT(values); i++)
		if (strcmp(values[i].command, command) == 0 &&
		    strcmp(values[i].option, option->name) == 0)
			return values[i].words;
	if (!is_list(option->form))
		return "";
	snprintf(words, sizeof(words), "%s", option->form);
	for (char *p = words; *p; p++)
		if (*p == '|')
			*p = ' ';
	return words;
}
