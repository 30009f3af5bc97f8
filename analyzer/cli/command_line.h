/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the command line become options: options.def lists those with a name.
 */
#ifndef STAGEPROF_ANALYZER_COMMAND_LINE_H
#define STAGEPROF_ANALYZER_COMMAND_LINE_H

#include "analyzer/cli/options.h"

/* Exits with status 2 where the command line is wrong, and with 0 after --help and --version.
 * options->paths is the caller's to free. */
void sp_options_parse(struct sp_options *options, int argc, char **argv);

#endif
