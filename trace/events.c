/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/events.h"

static const struct sp_event_info infos[SP_EVENT_KINDS] = {
#define SP_EVENT(number, name_, class_, value_, arg_, extra_)                                      \
	[number] = {.name = #name_,                                                                \
		    .class = SP_CLASS_##class_,                                                    \
		    .value = SP_VALUE_##value_,                                                    \
		    .arg = SP_ARG_##arg_,                                                          \
		    .extra = (extra_)},
#include "trace/events.def"
#undef SP_EVENT
};

const struct sp_event_info *sp_event_info(uint32_t kind)
{
	return &infos[kind < SP_EVENT_KINDS ? kind : 0];
}

/* Rejects a number used twice. */
void sp_event_numbers_are_unique(uint32_t kind);
void sp_event_numbers_are_unique(uint32_t kind)
{
	switch (kind) {
#define SP_EVENT(number, name, class, value, arg, extra) case number:
#include "trace/events.def"
#undef SP_EVENT
	default:
		break;
	}
}
