/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/settings/config.h"

#include <stddef.h>
#include <string.h>

#include "preload/settings/setting.h"

struct sp_config sp_config;

static const struct {
	const char *variable; /* includes the = */
	const char *form;
	size_t offset;
} settings[] = {
#define SP_SETTING(field, variable, form, meaning)                                                 \
	{variable "=", form, offsetof(struct sp_config, field)},
#define SP_SETTING_OWN SP_SETTING
#include "preload/settings/config.def"
#undef SP_SETTING
};

static const struct {
	const char *variable, *remedy;
} gone[] = {
#define SP_SETTING(field, variable, form, meaning)
#define SP_SETTING_GONE(option, variable, remedy) {variable "=", remedy},
#include "preload/settings/config.def"
#undef SP_SETTING
};

static int read_one(const char *entry)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		size_t length = strlen(settings[i].variable);

		if (strncmp(entry, settings[i].variable, length) == 0) {
			*(const char **)((char *)&sp_config + settings[i].offset) = entry + length;
			if (!sp_config.unfit &&
			    !sp_setting_fits(settings[i].form, entry + length)) {
				sp_config.unfit = entry;
				sp_config.unfit_form = settings[i].form;
			}
			return 1;
		}
	}
	return 0;
}

/* stageprof-report and the tests have their own settings. */
static int is_elsewhere(const char *entry)
{
	return strncmp(entry, "STAGEPROF_LANG=", 15) == 0 ||
	       strncmp(entry, "STAGEPROF_TEST_", 15) == 0;
}

static const char *fix_of(const char *entry)
{
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (strncmp(entry, gone[i].variable, strlen(gone[i].variable)) == 0)
			return gone[i].remedy;
	return "see stageprof run --help";
}

void sp_config_read(char *const *environment)
{
	for (; environment && *environment; environment++) {
		const char *entry = *environment;

		if (strncmp(entry, "STAGEPROF_", 10) != 0)
			continue;
		if (read_one(entry) || is_elsewhere(entry) || sp_config.unknown)
			continue;
		sp_config.unknown = entry;
		sp_config.unknown_fix = fix_of(entry);
	}
}

int sp_config_is(const char *setting, const char *word)
{
	return setting && strcmp(setting, word) == 0;
}

int sp_config_has(const char *setting, const char *word)
{
	size_t length = strlen(word), item;

	for (const char *at = setting; at && *at; at += item + (at[item] == ',')) {
		item = strcspn(at, ",");
		if (item == length && memcmp(at, word, length) == 0)
			return 1;
	}
	return 0;
}
