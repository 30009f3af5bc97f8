/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a section in JSON.
 */
#ifndef STAGEPROF_ANALYZER_SECTION_JSON_H
#define STAGEPROF_ANALYZER_SECTION_JSON_H

#include "analyzer/print/out.h"

/* Writes n, or null where it is not known. */
static inline void sp_section_count(struct sp_out *out, const char *key, bool is_known, uint64_t n)
{
	if (is_known)
		sp_json_count(&out->json, key, n);
	else
		sp_json_null(&out->json, key);
}

#endif
