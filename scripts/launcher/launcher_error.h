/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error in one line on stderr: the failure, the value, the reason, the fix and a code to search
 * for.
 */
#ifndef STAGEPROF_LAUNCHER_LAUNCHER_ERROR_H
#define STAGEPROF_LAUNCHER_LAUNCHER_ERROR_H

enum sp_error {
#define SP_LAUNCHER_ERROR(id, code, what, fix) SP_ERROR_##id,
#include "scripts/launcher/launcher_errors.def"
#undef SP_LAUNCHER_ERROR
};

/* `value` is escaped; `fix` NULL: the table's. */
void sp_error_print(enum sp_error error, const char *value, const char *why, const char *fix);

#endif
