/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains a verdict, or an error of either program: stageprof-report explain [CODE].
 */
#ifndef STAGEPROF_ANALYZER_EXPLAIN_H
#define STAGEPROF_ANALYZER_EXPLAIN_H

#include "analyzer/print/out.h"

/* Lists all codes, or, where code is not NULL, explains that code. Returns 0, or -EINVAL for an
 * unknown code. */
int sp_explain(struct sp_out *out, const char *code);

#endif
