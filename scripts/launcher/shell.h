/*
 * Words for a shell: what is printed here can be pasted.
 */
#ifndef STAGEPROF_LAUNCHER_SHELL_H
#define STAGEPROF_LAUNCHER_SHELL_H

#include <stddef.h>

/* The word, quoted where a shell would take it for something else. A word with control characters
 * comes as
 * $'…'. One that does not fit is cut. */
const char *sp_shell_quote(char *ret, size_t ret_bytes, const char *word);

/* An absolute path as one from the working directory, where it lies below it; else as it is. */
const char *sp_shell_relative(const char *path);

#endif
