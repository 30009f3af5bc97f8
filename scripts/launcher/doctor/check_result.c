/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/doctor/check_result.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyzer/text/translate.h"

void sp_check_set(struct sp_check_result *result, enum sp_check_status status, const char *fix,
		  const char *format, ...)
{
	va_list args;

	result->status = status;
	result->fix = sp_translate(fix);
	format = sp_translate(format);
	va_start(args, format);
	vsnprintf(result->text, sizeof(result->text), format, args);
	va_end(args);
}
