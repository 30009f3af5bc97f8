/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/cause.h"

#include "analyzer/text/translate.h"
#include "trace/events.h"

/* A row that the table does not give is of no cause: 0, as unknown - unknown. */
#define ROW(cause) ((uint8_t)(SP_CAUSE_unknown - SP_CAUSE_##cause))

#define SP_CAUSE(name, title)
#define SP_CAUSE_STAGE(stage, cause, time)
#define SP_CAUSE_WAIT(event, cause)
#define SP_CAUSE_FD(kind, cause)

static const char *const names[SP_CAUSES] = {
#undef SP_CAUSE
#define SP_CAUSE(name, title) #name,
#include "analyzer/workers/cause.def"
};

static const char *const titles[SP_CAUSES] = {
#undef SP_CAUSE
#define SP_CAUSE(name, title) title,
#include "analyzer/workers/cause.def"
};

#undef SP_CAUSE
#define SP_CAUSE(name, title)

static const uint8_t of_stages[SP_STAGES] = {
#undef SP_CAUSE_STAGE
#define SP_CAUSE_STAGE(stage, cause, time) [SP_STAGE_##stage] = ROW(cause),
#include "analyzer/workers/cause.def"
};

static const bool all_of_stages[SP_STAGES] = {
#define ALL true
#define SOME false
#undef SP_CAUSE_STAGE
#define SP_CAUSE_STAGE(stage, cause, time) [SP_STAGE_##stage] = time,
#include "analyzer/workers/cause.def"
};

#undef SP_CAUSE_STAGE
#define SP_CAUSE_STAGE(stage, cause, time)

static const uint8_t of_waits[SP_EVENT_KINDS] = {
#undef SP_CAUSE_WAIT
#define SP_CAUSE_WAIT(event, cause) [SP_EV_##event] = ROW(cause),
#include "analyzer/workers/cause.def"
};

#undef SP_CAUSE_WAIT
#define SP_CAUSE_WAIT(event, cause)

static const uint8_t of_fds[SP_FD_KINDS] = {
#undef SP_CAUSE_FD
#define SP_CAUSE_FD(kind, cause) [SP_FD_KIND_##kind] = ROW(cause),
#include "analyzer/workers/cause.def"
};

const char *sp_cause_name(enum sp_cause cause)
{
	return names[cause];
}

const char *sp_cause_title(enum sp_cause cause)
{
	return _(titles[cause]);
}

bool sp_cause_of(uint32_t kind, enum sp_stage stage, enum sp_fd_kind fd_kind, enum sp_cause *ret,
		 bool *ret_all)
{
	uint8_t row = 0;

	if (stage == SP_STAGE_wait)
		row = of_waits[kind] ? of_waits[kind] : of_fds[fd_kind];
	else if (stage < SP_STAGES)
		row = of_stages[stage];
	*ret = (enum sp_cause)(SP_CAUSE_unknown - row);
	*ret_all = stage == SP_STAGE_wait || (stage < SP_STAGES && all_of_stages[stage]);
	return row != 0;
}
