/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/launcher_error.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

static const struct {
	const char *code, *what, *fix;
} errors[] = {
#define SP_LAUNCHER_ERROR(id, code, what, fix) {code, what, fix},
#include "scripts/launcher/launcher_errors.def"
#undef SP_LAUNCHER_ERROR
};

void sp_error_print(enum sp_error error, const char *value, const char *why, const char *fix)
{
	char escaped[4096];

	sp_text_escape(escaped, sizeof(escaped), value, strlen(value));
	fprintf(stderr, _("stageprof: %s %s: %s; %s [%s]\n"), _(errors[error].what), escaped,
		_(why), _(fix ? fix : errors[error].fix), errors[error].code);
}
