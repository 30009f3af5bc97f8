/*
 * The STAGEPROF_* settings, as strings of the environment the process began with; NULL where unset.
 * Written once by sp_config_read in the constructor, read-only afterwards.
 */
#ifndef STAGEPROF_PRELOAD_CONFIG_H
#define STAGEPROF_PRELOAD_CONFIG_H

struct sp_config {
#define SP_SETTING(field, variable, form, meaning) const char *field;
#include "preload/config.def"
#undef SP_SETTING
	const char *unknown; /* the first STAGEPROF_* variable that is no setting, or NULL */
	const char *unfit, *unfit_form; /* the first whose value is not of its form, "NAME=value", or NULL */
};

extern struct sp_config sp_config;

/* The strings must outlive the process's use of them: they point into `environment`. */
void sp_config_read(char *const *environment);

/* 1 where the setting is set to exactly this word. */
int sp_config_is(const char *setting, const char *word);

#endif
