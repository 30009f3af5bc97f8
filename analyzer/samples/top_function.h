/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function that takes most of the dataset's and transforms' own code, by samples.
 */
#ifndef STAGEPROF_ANALYZER_TOP_FUNCTION_H
#define STAGEPROF_ANALYZER_TOP_FUNCTION_H

#include <stdint.h>

#include "analyzer/samples/samples.h"

#define SP_TOP_NAME_BYTES 256u

struct sp_top_function {
	uint64_t samples;		/* of making batches; 0: no function is named */
	double share;			/* of their time that the function takes */
	char name[SP_TOP_NAME_BYTES];	/* "resize (PIL/Image.py:2304)" */
	char caller[SP_TOP_NAME_BYTES]; /* "load (dataset.py:88)", outside of installed packages;
					   "": the function itself is */
};

/* Returns 0 or -ENOMEM. */
int sp_top_function_find(struct sp_top_function *ret, const struct sp_samples *samples);

/* The line of the program's own files in which most of the loop's own code runs, with all that it
 * calls; `caller` is "". Returns 0 or -ENOMEM. */
int sp_top_line_find(struct sp_top_function *ret, const struct sp_samples *samples);

#endif
