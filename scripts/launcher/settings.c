/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/settings/config.h"
#include "preload/settings/setting.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/launcher_error.h"
#include "scripts/sampler/sampler.h"

#define FIRST_KEY 0x100

enum {
#define SP_SETTING(field, variable, form, meaning) SETTING_##field,
#include "preload/settings/config.def"
#undef SP_SETTING
	SETTINGS
};

static const char *const names[SETTINGS] = {
#define SP_SETTING(field, variable, form, meaning) [SETTING_##field] = #field,
#include "preload/settings/config.def"
#undef SP_SETTING
};

static const char *const variables[SETTINGS] = {
#define SP_SETTING(field, variable, form, meaning) [SETTING_##field] = variable,
#include "preload/settings/config.def"
#undef SP_SETTING
};

static const char *const forms[SETTINGS] = {
#define SP_SETTING(field, variable, form, meaning) [SETTING_##field] = form,
#include "preload/settings/config.def"
#undef SP_SETTING
};

enum {
	LAST_SETTING = SETTINGS - 1,
#define SP_SETTING(field, variable, form, meaning)
#define SP_SETTING_GONE(option, variable, remedy) GONE_##option,
#include "preload/settings/config.def"
#undef SP_SETTING
	KEYS
};

static const char *const remedies[KEYS] = {
#define SP_SETTING(field, variable, form, meaning)
#define SP_SETTING_GONE(option, variable, remedy) [GONE_##option] = remedy,
#include "preload/settings/config.def"
#undef SP_SETTING
};

#define KEY(field) (SETTING_##field == SETTING_output ? 'o' : FIRST_KEY + (int)SETTING_##field)
#define FLAGS(field) (SETTING_##field == SETTING_sample ? OPTION_ARG_OPTIONAL : 0)

const struct argp_option sp_settings_options[] = {
#define SP_SETTING(field, variable, form, meaning)                                                 \
	{#field, KEY(field), "VALUE", FLAGS(field), variable ": " meaning, 0},
#define SP_SETTING_GONE(option, variable, remedy)                                                  \
	{                                                                                          \
		#option, FIRST_KEY + (int)GONE_##option,                                           \
		"VALUE", OPTION_HIDDEN | OPTION_ARG_OPTIONAL,                                      \
		"",	 0},
#include "preload/settings/config.def"
#undef SP_SETTING
	{0},
};

static void print_unfit(const char *before, const char *name, size_t name_bytes, const char *value,
			const char *form)
{
	char given[512], why[128];

	snprintf(given, sizeof(given), "%s%.*s=%s", before, (int)name_bytes, name, value);
	snprintf(why, sizeof(why), "it takes %s", form);
	sp_error_print(SP_ERROR_setting, given, why, NULL);
}

int sp_settings_check(void)
{
	const char *entry = sp_config.unfit;

	if (!entry)
		return SP_STATUS_OK;
	print_unfit("", entry, strcspn(entry, "="), entry + strcspn(entry, "=") + 1,
		    sp_config.unfit_form);
	return SP_STATUS_USAGE;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	int setting = key == 'o' ? (int)SETTING_output : key - FIRST_KEY;

	if (setting < 0 || setting >= (int)KEYS)
		return ARGP_ERR_UNKNOWN;
	if (remedies[setting]) {
		sp_error_print(SP_ERROR_setting, state->argv[state->next - 1], "it was removed",
			       remedies[setting]);
		exit(SP_STATUS_USAGE);
	}
	if (!arg)
		arg = (char *)SP_SAMPLER_AUTO;
	if (!sp_setting_fits(forms[setting], arg)) {
		print_unfit("--", names[setting], strlen(names[setting]), arg, forms[setting]);
		exit(SP_STATUS_USAGE);
	}
	if (setenv(variables[setting], arg, 1) < 0)
		argp_failure(state, EXIT_FAILURE, ENOMEM, "%s", variables[setting]);
	return 0;
}

const struct argp sp_settings_argp = {sp_settings_options, parse, NULL, NULL, NULL, NULL, NULL};
