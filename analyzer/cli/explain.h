/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains a verdict, or an error of either program: stageprof-report explain [CODE
 * [RUN]].
 */
#ifndef STAGEPROF_ANALYZER_EXPLAIN_H
#define STAGEPROF_ANALYZER_EXPLAIN_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* Lists all codes, or, where code is not NULL, explains that code; with a report by the figures of
 * its run; with_rows: also the conditions and the savings of the rows of advice.def. Returns 0,
 * -ENOMEM, or -EINVAL for an unknown code. */
int sp_explain(struct sp_out *out, const char *code, const struct sp_report *report,
	       bool with_rows);

#define SP_CODES_MEANT_BYTES 128u

/* The codes that are spelled most like this one, or have it as a part: "input-bound, io-bound".
 * False: none is like it. */
bool sp_explain_meant(const char *code, char ret[SP_CODES_MEANT_BYTES]);

#endif
