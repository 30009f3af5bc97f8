/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that are valid alone but not together.
 */
#ifndef STAGEPROF_ANALYZER_OPTION_CHECKS_H
#define STAGEPROF_ANALYZER_OPTION_CHECKS_H

#include <argp.h>

#include "analyzer/cli/options.h"

/* After the last word of the command line. Adds the newest run where no RUN was given. Ends the
 * program with the status of a wrong command line where words do not fit each other. */
void sp_options_check(const struct argp_state *state, struct sp_options *options);

#endif
