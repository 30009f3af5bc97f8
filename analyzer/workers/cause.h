/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes of waiting: the thing that a thread waits for while it has no core, by the call that it is
 * in (cause.def).
 */
#ifndef STAGEPROF_ANALYZER_CAUSE_H
#define STAGEPROF_ANALYZER_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/stage.h"

enum sp_cause {
#define SP_CAUSE(name, title) SP_CAUSE_##name,
#define SP_CAUSE_STAGE(stage, cause, time)
#define SP_CAUSE_WAIT(event, cause)
#define SP_CAUSE_FD(kind, cause)
#include "analyzer/workers/cause.def"
#undef SP_CAUSE
#undef SP_CAUSE_STAGE
#undef SP_CAUSE_WAIT
#undef SP_CAUSE_FD
	SP_CAUSES
};

const char *sp_cause_name(enum sp_cause cause);
const char *sp_cause_title(enum sp_cause cause); /* for people, in their language */

/* Sets *ret to the cause that a call of this kind and stage waits for; false: none is known.
 * *ret_all: the call waits from its begin to its end. */
bool sp_cause_of(uint32_t kind, enum sp_stage stage, enum sp_fd_kind fd_kind, enum sp_cause *ret,
		 bool *ret_all);

#endif
