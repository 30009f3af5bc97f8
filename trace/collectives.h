/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives and the types of their elements, as events name them: collectives.def. */
#ifndef STAGEPROF_TRACE_COLLECTIVES_H
#define STAGEPROF_TRACE_COLLECTIVES_H

enum sp_collective {
#define SP_COLLECTIVE(number, name, is_even) SP_COLLECTIVE_##name = (number),
#include "trace/collectives.def"
	SP_COLLECTIVES = 16 /* all numbers are below */
};

#define SP_ELEMENT_UNKNOWN 255

#endif
