/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the run, for people and for programs.
 */
#ifndef STAGEPROF_ANALYZER_ENDING_H
#define STAGEPROF_ANALYZER_ENDING_H

#include <stddef.h>

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* "exit status 1 after 12.3 s": of the command, else of the trainer, else of the first process. */
void sp_ending_text(const struct sp_report *report, char *ret, size_t ret_bytes);

/* For programs: the table "ending", and in JSON the object "hang". Returns 0 or -errno. */
int sp_ending_show(const struct sp_report *report, struct sp_out *out);

/* Writes the object "hang": null where the run has not hung. */
void sp_ending_hang_json(const struct sp_report *report, struct sp_json *j);

#endif
