/*
 * The recorder's settings (preload/config.def) as options: --NAME=VALUE sets STAGEPROF_NAME.
 */
#ifndef STAGEPROF_LAUNCHER_SETTINGS_H
#define STAGEPROF_LAUNCHER_SETTINGS_H

#include <argp.h>

extern const struct argp sp_settings_argp;

/* After sp_config_read(): 0, or the exit status, having said which variable has no value that it takes. */
int sp_settings_check(void);

#endif
