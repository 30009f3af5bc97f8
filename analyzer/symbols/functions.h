/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the functions on a run's stacks, by the symbols of the objects that contain them, if these
 * are unchanged (symbolizer.h). Each file is read once. The numbers of addresses and names are
 * bounded.
 */
#ifndef STAGEPROF_ANALYZER_FUNCTIONS_H
#define STAGEPROF_ANALYZER_FUNCTIONS_H

#include "analyzer/reader/index.h"
#include "analyzer/metadata/string_table.h"
#include "analyzer/metadata/slow_calls.h"

#define SP_FUNCTIONS_MAX (1u << 18) /* addresses of a run; further addresses have no names */

struct sp_function;

struct sp_functions {
	const struct sp_slow_calls *calls; /* sorted; outlives this struct */
	struct sp_string_table files;	   /* identities of the objects' files */
	uint32_t *file_of;		   /* by object */
	struct sp_function *by_site;	   /* uthash */
	struct sp_string_table names;	   /* as the files spell them */
};

/* Reads all available names. Opens files that the trace names, so it needs the user's request
 * (--symbols). Without it (.calls set, all else 0) no address has a name. Returns 0 or -ENOMEM. */
int sp_functions_find(struct sp_functions *functions, const struct sp_slow_calls *calls,
		      const struct sp_index *index);
void sp_functions_finish(struct sp_functions *functions);

/* The function whose call returns to the address, as its file spells it: possibly mangled. NULL
 * where it is unknown. */
const char *sp_function_name(const struct sp_functions *functions, uint32_t image, uint64_t address,
			     size_t *ret_bytes);

#endif
