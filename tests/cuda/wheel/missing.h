/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For functions without a body.
 */
#ifndef SIM_MISSING_H
#define SIM_MISSING_H

#include <stdio.h>

static inline void sim_missing(const char *name)
{
	fprintf(stderr, "test bed: %s has no body\n", name);
}

#endif
