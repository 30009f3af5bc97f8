/*
 * A run that left no trace, explained.
 */
#ifndef STAGEPROF_LAUNCHER_NOTHING_H
#define STAGEPROF_LAUNCHER_NOTHING_H

#include "scripts/launcher/child.h"

/* One line on stderr: why nothing was recorded of this command, as far as it can be told. After
 * sp_config_read(). */
void sp_nothing_explain(const char *command, const struct sp_child *child);

#endif
