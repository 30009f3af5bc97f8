/*
 * Event kinds and classes, generated from events.def. libc only, no state.
 */
#ifndef STAGEPROF_TRACE_EVENTS_H
#define STAGEPROF_TRACE_EVENTS_H

#include <stdint.h>

enum sp_event {
#define SP_EVENT(number, name, class, value, arg, extra) SP_EV_##name = (number),
#include "trace/events.def"
#undef SP_EVENT
};

#define SP_EVENT_KINDS 1024u /* numbers in events.def stay below */

enum sp_class {
	SP_CLASS_OPEN,
	SP_CLASS_CLOSE,
	SP_CLASS_READ,
	SP_CLASS_WRITE,
	SP_CLASS_MAP,
	SP_CLASS_UNMAP,
	SP_CLASS_DUP,
	SP_CLASS_WAIT,
	SP_CLASS_JPEG,
	SP_CLASS_PROCESS,
	SP_CLASS_RANGE,
};

enum sp_value {
	SP_VALUE_NONE,
	SP_VALUE_BYTES,
	SP_VALUE_LENGTH,
	SP_VALUE_FD,
	SP_VALUE_RESULT,
	SP_VALUE_PID,
	SP_VALUE_LINES,
	SP_VALUE_PART,
};

enum sp_arg {
	SP_ARG_NONE,
	SP_ARG_FILE,
	SP_ARG_OBJECT,
	SP_ARG_NAME,
};

/* What a range is for. */
enum sp_part {
#define SP_PART(name, title) SP_PART_##name,
#include "trace/parts.def"
#undef SP_PART
	SP_PARTS
};

/* Third EXTRA word of decode events. */
enum sp_decode_end {
	SP_DECODE_FINISHED,
	SP_DECODE_ABORTED, /* jpeg_abort, jpeg_destroy before the last line, or an error's longjmp */
};

struct sp_event_info {
	const char *name; /* NULL: no such kind in this version */
	uint8_t class, value, arg, extra;
};

/* Never NULL; an unknown kind has a NULL name. */
const struct sp_event_info *sp_event_info(uint32_t kind);

#endif
