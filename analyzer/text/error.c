/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/error.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

static const struct sp_error_text errors[SP_REPORT_ERRORS] = {
#define SP_REPORT_ERROR(id, code, why, fix) {"stageprof-report", code, why, fix},
#include "analyzer/text/errors.def"
#undef SP_REPORT_ERROR
};

const struct sp_error_text *sp_report_error(enum sp_report_error error)
{
	return &errors[error];
}

void sp_report_error_line(char *ret, size_t ret_bytes, enum sp_report_error error,
			  const char *value, const char *why)
{
	const struct sp_error_text *text = &errors[error];
	size_t used = 0;

	if (value) {
		sp_text_escape(ret, ret_bytes / 2, value, strlen(value));
		used = strlen(ret);
	}
	snprintf(ret + used, ret_bytes - used, "%s%s%s%s [%s]", value ? _(": ") : "",
		 why ? why : _(text->says), _("; "), _(text->fix), text->code);
}
