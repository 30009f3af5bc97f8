/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/doctor/doctor_context.h"

#include <stdio.h>
#include <string.h>

bool sp_doctor_context_property(const struct sp_doctor_context *context, const char *name,
				char ret[256])
{
	size_t bytes = strlen(name);

	for (const char *line = context->properties; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, name, bytes) == 0 && line[bytes] == '\t') {
			snprintf(ret, 256, "%.*s", (int)strcspn(line + bytes + 1, "\n"),
				 line + bytes + 1);
			return true;
		}
	return false;
}
