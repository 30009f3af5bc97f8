/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the right to sample Python functions, and of the interpreter.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/text/translate.h"
#include "scripts/launcher/doctor/doctor_context.h"
#include "scripts/launcher/sampling_right.h"

#define PYTHON_LEAST 8u
#define PYTHON_MOST 14u

static bool is_known(const char *implementation, const char *version)
{
	unsigned minor;

	return strcmp(implementation, "cpython") == 0 && sscanf(version, "3.%u", &minor) == 1 &&
	       minor >= PYTHON_LEAST && minor <= PYTHON_MOST;
}

void sp_check_sampling(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char version[256], implementation[256];
	const char *fix, *why = sp_sampling_right_missing(&fix);

	if (why)
		sp_check_set(result, SP_CHECK_WARN, fix,
			     "run --sample would note no Python functions: %s", _(why));
	else if (!sp_doctor_context_property(context, "python", version) ||
		 !sp_doctor_context_property(context, "implementation", implementation))
		sp_check_set(result, SP_CHECK_OK, NULL, "the memory of a child can be read");
	else if (is_known(implementation, version))
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "the memory of a child can be read; functions of CPython %s are known",
			     version);
	else
		sp_check_set(result, SP_CHECK_WARN,
			     "use CPython 3.8 to 3.14, or run without --sample",
			     "run --sample knows no functions of %s %s", implementation, version);
}
