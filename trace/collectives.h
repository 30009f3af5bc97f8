/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives and the types of their elements, as events name them: collectives.def. */
#ifndef STAGEPROF_TRACE_COLLECTIVES_H
#define STAGEPROF_TRACE_COLLECTIVES_H

enum sp_collective {
#define SP_COLLECTIVE(number, name, is_even, needs_all) SP_COLLECTIVE_##name = (number),
#include "trace/collectives.def"
	SP_COLLECTIVES = 16 /* all numbers are below */
};

#define SP_ELEMENT_UNKNOWN 255

/* The origin of a group makes those of two processes one: the upper half of the first EXTRA word of
 * an event collective_group. The lower half is the process's rank. */
enum sp_group_origin {
	SP_GROUP_OF_LABEL,  /* those with the name of the label around the event */
	SP_GROUP_OF_ID,	    /* second word: a hash that only the ranks of this group share */
	SP_GROUP_OF_PARENT, /* second: the parent's address >> 8 | its part << 32, by which the
			       ranks of the parent divide; they all do it, in one order */
};

#define SP_GROUP_RANK_UNKNOWN UINT32_MAX
#define SP_GROUP_NO_PART UINT32_MAX /* the process is in none of them: size 0, address 0 */

#endif
