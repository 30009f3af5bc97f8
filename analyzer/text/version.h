/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to --version, and to --version --verbose.
 */
#ifndef STAGEPROF_ANALYZER_VERSION_H
#define STAGEPROF_ANALYZER_VERSION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The version that the build sets, "0.1.0", and as struct sp_file_header has it. */
const char *sp_version_text(void);
uint32_t sp_version_number(void);

/* Writes "1.2.3" for a number of a header. */
void sp_version_of_number(char ret[16], uint32_t number);

/* True where the words of a command line ask for more than the version. */
bool sp_version_is_verbose(char *const *argv);

/* Prints "NAME VERSION" and, if asked, how the program was built. */
void sp_version_print(FILE *file, const char *name, bool is_verbose);

#endif
