/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs' own tables of options, settings, views and commands, as arrays.
 */
#ifndef STAGEPROF_TABLES_H
#define STAGEPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>

struct option {
	const char *name;     /* without the dashes */
	const char *argument; /* the value's name; of a setting: its variable; NULL: no value */
	const char *help;
	int key;	  /* a letter below 128, or another number */
	const char *form; /* of a setting: its values, as preload/settings/setting.h says */
};

struct entry {
	const char *name, *help;
};

struct command {
	const char *name, *arguments, *help;
};

extern const struct option report_options[], settings[];
extern const size_t report_option_count, setting_count;
extern const struct entry views[], exporters[];
extern const size_t view_count, exporter_count;
extern const struct command commands[];
extern const size_t command_count;

/* True for --sample, whose value may be left out. */
bool is_no_plain_option(const struct option *setting);

/*
 * The words that may follow --OPTION= of this command ("report", "doctor", "run"), with blanks
 * between. "" where any value is allowed. The text is valid until the next call.
 */
const char *values_of(const char *command, const struct option *option);

#endif
