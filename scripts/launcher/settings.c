#include "scripts/launcher/settings.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_KEY 0x100

enum {
#define SP_SETTING(field, variable, meaning) SETTING_##field,
#include "preload/config.def"
#undef SP_SETTING
	SETTINGS
};

static const char *const variables[SETTINGS] = {
#define SP_SETTING(field, variable, meaning) [SETTING_##field] = variable,
#include "preload/config.def"
#undef SP_SETTING
};

/* STAGEPROF_RUN hands the run on to children: nobody sets it. argp leaves out an option without a
 * name. */
#define KEY(field) (SETTING_##field == SETTING_output ? 'o' : FIRST_KEY + (int)SETTING_##field)
#define HIDDEN(field) (SETTING_##field == SETTING_run ? OPTION_HIDDEN : 0)

static const struct argp_option options[] = {
#define SP_SETTING(field, variable, meaning)                                                       \
	{#field, KEY(field), "VALUE", HIDDEN(field), variable ": " meaning, 0},
#include "preload/config.def"
#undef SP_SETTING
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	int setting = key == 'o' ? (int)SETTING_output : key - FIRST_KEY;

	if (setting < 0 || setting >= (int)SETTINGS || setting == SETTING_run)
		return ARGP_ERR_UNKNOWN;
	if (setenv(variables[setting], arg, 1) < 0)
		argp_failure(state, EXIT_FAILURE, ENOMEM, "%s", variables[setting]);
	return 0;
}

const struct argp sp_settings_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};
