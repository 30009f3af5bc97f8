/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/export.h"

#include <string.h>

#include "analyzer/views/view.h"

const struct sp_exporter sp_exporters[] = {
#define SP_EXPORTER(name, binary, needs, help, next)                                               \
	{#name, help, next, binary, needs, sp_export_##name},
#include "analyzer/exporters/exporters.def"
#undef SP_EXPORTER
};
const unsigned sp_exporter_count = sizeof(sp_exporters) / sizeof(sp_exporters[0]);

const struct sp_exporter *sp_exporter_find(const char *name)
{
	for (unsigned i = 0; i < sp_exporter_count; i++)
		if (strcmp(sp_exporters[i].name, name) == 0)
			return &sp_exporters[i];
	return NULL;
}
