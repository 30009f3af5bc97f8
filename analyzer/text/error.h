/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of stageprof-report, from analyzer/text/errors.def. The texts are English; the code that
 * prints one translates it.
 */
#ifndef STAGEPROF_ANALYZER_ERROR_H
#define STAGEPROF_ANALYZER_ERROR_H

#include <stddef.h>

enum sp_report_error {
#define SP_REPORT_ERROR(id, code, why, fix) SP_REPORT_ERROR_##id,
#include "analyzer/text/errors.def"
#undef SP_REPORT_ERROR
	SP_REPORT_ERRORS
};

struct sp_error_text {
	const char *program, *code, *says, *fix; /* says "": the system's own text */
};

const struct sp_error_text *sp_report_error(enum sp_report_error error);

/*
 * "VALUE: WHY; FIX [CODE]", translated. `value` is escaped; NULL: the line has none. `why` NULL:
 * the table's.
 */
void sp_report_error_line(char *ret, size_t ret_bytes, enum sp_report_error error,
			  const char *value, const char *why);

#endif
