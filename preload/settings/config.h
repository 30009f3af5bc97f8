/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STAGEPROF_* settings, as strings of the environment that the process began with; NULL if
 * unset. sp_config_read writes them once in the constructor; read-only afterwards.
 */
#ifndef STAGEPROF_PRELOAD_CONFIG_H
#define STAGEPROF_PRELOAD_CONFIG_H

struct sp_config {
#define SP_SETTING(field, variable, form, meaning) const char *field;
#define SP_SETTING_OWN SP_SETTING
#include "preload/settings/config.def"
#undef SP_SETTING
	const char *unknown;	 /* the first STAGEPROF_* variable that is no setting, or NULL */
	const char *unknown_fix; /* what to do about it */
	const char *unfit,
		*unfit_form; /* the first with a malformed value, "NAME=value", or NULL */
};

extern struct sp_config sp_config;

/* Settings point into `environment`: its strings must live as long as the process. */
void sp_config_read(char *const *environment);

/* Returns 1 if the setting is exactly this word. */
int sp_config_is(const char *setting, const char *word);

/* Returns 1 if the setting is a list, separated by commas, that has this word. */
int sp_config_has(const char *setting, const char *word);

#endif
