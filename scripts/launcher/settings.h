/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's settings (preload/settings/config.def) as options: --NAME=VALUE sets
 * STAGEPROF_NAME.
 */
#ifndef STAGEPROF_LAUNCHER_SETTINGS_H
#define STAGEPROF_LAUNCHER_SETTINGS_H

#include <argp.h>

extern const struct argp sp_settings_argp;
extern const struct argp_option sp_settings_options[]; /* for other languages of --help */

/* Call it after sp_config_read(). Returns 0, or the exit status after printing the variable that
 * has a wrong value. */
int sp_settings_check(void);

#endif
