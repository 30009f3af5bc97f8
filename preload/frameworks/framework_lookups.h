/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of frameworks that programs find by dlsym. */
#ifndef STAGEPROF_PRELOAD_FRAMEWORK_LOOKUPS_H
#define STAGEPROF_PRELOAD_FRAMEWORK_LOOKUPS_H

/* Constructor of a recording process: from now on lookups find wrappers. */
void sp_framework_lookups_init(void);

#endif
