/*
 * What a verdict means, or an error of either program: stageprof-report explain [CODE].
 */
#ifndef STAGEPROF_ANALYZER_EXPLAIN_H
#define STAGEPROF_ANALYZER_EXPLAIN_H

#include "analyzer/out.h"

/* All codes, or where code is not NULL all about that one. Returns 0, or -EINVAL for no such code. */
int sp_explain(struct sp_out *out, const char *code);

#endif
