/*
 * Names of the functions on a run's stacks, from the symbols of the objects that they lie in, where these are still the
 * same (symbols.h). Each file is read once; what is kept is bounded by addresses and names.
 */
#ifndef STAGEPROF_ANALYZER_FUNCTIONS_H
#define STAGEPROF_ANALYZER_FUNCTIONS_H

#include "analyzer/index.h"
#include "analyzer/names.h"
#include "analyzer/slow.h"

#define SP_FUNCTIONS_MAX (1u << 18) /* addresses of a run; those beyond have no names */

struct sp_function;

struct sp_functions {
	const struct sp_slow_calls *calls; /* sorted; outlive this */
	struct sp_names files;		   /* whose objects they are */
	uint32_t *file_of;		   /* by object */
	struct sp_function *by_place;	   /* uthash */
	struct sp_names names;		   /* as their files have them */
};

/* Reads the names that can be had: opens files that the trace names, so only for somebody who asked for it. Without it
 * (.calls set, all else 0) nothing has a name. Returns 0 or -ENOMEM. */
int sp_functions_find(struct sp_functions *functions, const struct sp_slow_calls *calls, const struct sp_index *index);
void sp_functions_finish(struct sp_functions *functions);

/* The function whose call returns to the address, as its file has it: perhaps mangled. NULL: not known. */
const char *sp_function_name(const struct sp_functions *functions, uint32_t image, uint64_t address, size_t *ret_bytes);

#endif
