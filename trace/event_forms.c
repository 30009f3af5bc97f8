/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/events.h"

static const struct sp_event_form forms[SP_EVENT_KINDS] = {
#define SP_EVENT(number, name, class_, value, arg_, extra)                                         \
	[number] = {.class = SP_CLASS_##class_, .arg = SP_ARG_##arg_},
#include "trace/events.def"
#undef SP_EVENT
};

struct sp_event_form sp_event_form(uint32_t kind)
{
	return forms[kind < SP_EVENT_KINDS ? kind : 0];
}
