/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUPTI library of the process and its functions.
 */
#ifndef STAGEPROF_PRELOAD_CUPTI_FIND_H
#define STAGEPROF_PRELOAD_CUPTI_FIND_H

#include "preload/cuda/abi_cupti.h"

/* The functions of preload/cuda/cupti_api.def. */
struct sp_cupti {
	void *library;
	char name[64]; /* of its file */
#define SP_CUPTI_FUNCTION(name, parameters) int(*name) parameters;
#include "preload/cuda/cupti_api.def"
#undef SP_CUPTI_FUNCTION
};

/*
 * Finds the library: a loaded one (PyTorch brings its own), then the one of the CUDA version in
 * use, by name and next to the runtime. Returns 0, or -ENOENT with *ret_missing NULL if there is
 * no library, or the name of the missing function. Loads a library: not for hooks of calls that
 * are recorded.
 */
int sp_cupti_find(struct sp_cupti *cupti, const char **ret_missing);

#endif
