/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on stderr. Each begins with the program's name.
 */
#ifndef STAGEPROF_ANALYZER_SAY_H
#define STAGEPROF_ANALYZER_SAY_H

#include "analyzer/text/error.h"

void sp_say(const char *line);

/* value, why: may be NULL, see sp_report_error_line(). */
void sp_say_error(enum sp_report_error error, const char *value, const char *why);

/* A line about damage of the inputs, with its code. */
void sp_say_damage(const char *line);

#endif
