/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotes words for a shell, so that printed commands can be pasted.
 */
#ifndef STAGEPROF_LAUNCHER_SHELL_H
#define STAGEPROF_LAUNCHER_SHELL_H

#include <stddef.h>

/* Quotes the word where a shell would interpret it. A word with control characters becomes $'…'.
 * A word that does not fit is cut. */
const char *sp_shell_quote(char *ret, size_t ret_bytes, const char *word);

/* Makes an absolute path relative where it lies below the working directory; else returns it
 * unchanged. */
const char *sp_shell_relative(const char *path);

#endif
