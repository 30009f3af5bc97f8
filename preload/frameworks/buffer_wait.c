/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/buffer_wait.h"

#include <string.h>

#include "preload/frameworks/range_stack.h"
#include "trace/events.h"

/* PyTypeObject of builds with a GIL, Python 3.8 and later: tp_as_buffer. A type made at run time
 * has its PyBufferProcs inside itself. */
#define TYPE_AS_BUFFER 160
#define TYPE_BYTES_MOST 1024u

typedef int get_buffer(struct sp_py_object *array, void *ret_view, int flags);

/* PyBufferProcs */
struct buffer_slots {
	get_buffer *get;
	void (*release)(struct sp_py_object *array, void *view);
};

static get_buffer *original; /* NULL: no type is watched */
static const char *text;     /* of a string that is never released */
static ptrdiff_t text_bytes;

static int watched_get(struct sp_py_object *array, void *ret_view, int flags)
{
	struct sp_range range = sp_range_begin();
	int result = original(array, ret_view, flags);

	if (result == 0)
		sp_range_end(range, SP_EV_python_call, SP_PHASE_device_wait, text,
			     (size_t)text_bytes);
	return result;
}

static struct buffer_slots *slots_of(const struct sp_py_object *type)
{
	struct buffer_slots *slots;
	uintptr_t at;

	memcpy(&slots, (const char *)type + TYPE_AS_BUFFER, sizeof(slots));
	at = (uintptr_t)slots - (uintptr_t)type;
	return at % 8 == 0 && at > TYPE_AS_BUFFER && at < TYPE_BYTES_MOST ? slots : NULL;
}

struct sp_py_object *sp_buffer_watch(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *type, *label;
	struct buffer_slots *slots;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "OU", &type, &label))
		return NULL;
	slots = slots_of(type);
	if (original || !slots || !slots->get)
		return sp_python.PyBool_FromLong(0);
	text = sp_python.PyUnicode_AsUTF8AndSize(label, &text_bytes);
	if (!text)
		return NULL;
	sp_python.Py_IncRef(label);
	original = slots->get;
	slots->get = watched_get;
	return sp_python.PyBool_FromLong(1);
}
