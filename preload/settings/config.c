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

void sp_config_read(char *const *environment)
{
	for (; environment && *environment; environment++) {
		const char *entry = *environment;

		if (strncmp(entry, "STAGEPROF_", 10) != 0)
			continue;
		if (!read_one(entry) && !is_elsewhere(entry) && !sp_config.unknown)
			sp_config.unknown = entry;
	}
}

int sp_config_is(const char *setting, const char *word)
{
	return setting && strcmp(setting, word) == 0;
}
