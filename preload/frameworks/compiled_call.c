/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/compiled_call.h"

#include <string.h>

#include "preload/frameworks/compiled_flow.h"
#include "preload/frameworks/device_state.h"
#include "preload/recorder/switch.h"
#include "preload/waits/step_rusage.h"
#include "preload/sys/memory.h"
#include "trace/events.h"

#define FUNCTIONS 4096u /* a full table records no calls of further functions */

/* PyTypeObject of builds with a GIL, Python 3.8 and later: offsets in bytes. */
#define TYPE_BASICSIZE 32
#define TYPE_VECTORCALL_OFFSET 56

typedef struct sp_py_object *vectorcall(struct sp_py_object *function,
					struct sp_py_object *const *args, size_t count,
					struct sp_py_object *names);

/* By address: a new function at an old address replaces the row. */
struct compiled_function {
	const struct sp_py_object *function;
	struct sp_py_object *label;
	int trains;
	enum sp_flow_role role;
	vectorcall *original; /* NULL: not watched */
};

static struct compiled_function *rows; /* FUNCTIONS; NULL until a function is watched */

/* The calls that this thread is inside of, and the last ones. */
static __thread struct open_calls {
	uint32_t depth;
	int trains; /* gradients were taken in the outermost call */
	int is_step_open;
	struct sp_range step;
	struct sp_flow flow;
	struct sp_range gradients; /* the last call that gave gradients for another to apply */
	int is_replica;		   /* what it traces is a part of another thread's call */
} inside __attribute__((tls_model("initial-exec")));

static struct open_calls *caller; /* of the thread that is inside of a call; NULL: none */

/* The function's row, or the free one where it would be;
 * NULL where the table is full or not there. */
static struct compiled_function *row_of(const struct sp_py_object *function)
{
	uint32_t at = (uint32_t)((uintptr_t)function >> 4) % FUNCTIONS;

	for (uint32_t i = 0; rows && i < FUNCTIONS; i++, at = (at + 1) % FUNCTIONS)
		if (rows[at].function == function || !rows[at].function)
			return &rows[at];
	return NULL;
}

static int row_add(const struct sp_py_object *function, struct sp_py_object *label,
		   vectorcall *original)
{
	struct compiled_function *row;

	if (!rows)
		rows = sp_pages_make(FUNCTIONS * sizeof(*rows));
	row = row_of(function);
	if (!row)
		return 0;
	sp_python.Py_IncRef(label);
	sp_python_release(row->label);
	*row = (struct compiled_function){.function = function,
					  .label = label,
					  .original = original};
	return 1;
}

static void record(struct sp_range range, struct sp_py_object *label, int is_step)
{
	size_t skipped = is_step ? 0 : sizeof(SP_STEP_LABEL) - 1;
	ptrdiff_t bytes;
	const char *text = sp_python.PyUnicode_AsUTF8AndSize(label, &bytes);

	if (!text || (size_t)bytes < skipped)
		return;
	sp_range_end(range, SP_EV_python_call, is_step ? SP_PHASE_update : SP_PHASE_none,
		     text + skipped, (size_t)bytes - skipped);
	if (is_step) {
		sp_switch_step();
		sp_rusage_define_step();
	}
}

/* Gradients and their application are one step, from the last gradients on. */
static void record_call(struct sp_range range, const struct compiled_function *row, int is_step)
{
	if (row->role == SP_FLOW_APPLIES && inside.gradients.image) {
		record(inside.gradients, row->label, 1);
		inside.gradients.image = 0;
		return;
	}
	record(range, row->label, is_step && row->role != SP_FLOW_GRADIENTS);
	if (row->role == SP_FLOW_GRADIENTS)
		inside.gradients = range;
}

struct sp_compiled_call sp_compiled_begin(const struct sp_py_object *function)
{
	struct sp_compiled_call call = {
		.function = function,
		.is_outermost = !inside.depth++ && !inside.is_step_open,
		.trained_before = inside.trains,
	};

	inside.trains = 0;
	if (inside.depth == 1)
		caller = &inside;
	if (call.is_outermost)
		call.range = sp_range_begin();
	return call;
}

int sp_compiled_end(const struct sp_compiled_call *call, struct sp_py_object *step,
		    const struct sp_py_object *result)
{
	struct compiled_function *row = step ? NULL : row_of(call->function);
	int is_step = call->is_outermost && result && step;

	inside.depth--;
	if (is_step)
		record(call->range, step, 1);
	if (row && row->function) {
		row->trains |= inside.trains;
		is_step = call->is_outermost && result && row->trains;
		if (call->is_outermost)
			record_call(call->range, row, row->trains && result);
		inside.trains = call->trained_before | row->trains;
	}
	if (!inside.depth)
		inside.trains = 0;
	if (!inside.depth && caller == &inside)
		caller = NULL;
	return is_step;
}

int sp_compiled_differentiates(void)
{
	if (inside.is_replica && caller) {
		caller->trains = 1;
		return 1;
	}
	inside.trains = 1;
	return inside.depth || inside.is_step_open;
}

int sp_compiled_is_inside(void)
{
	return inside.depth != 0;
}

/* The highest bit of a count is a flag; values of named arguments follow the others. */
static size_t count_all(size_t count, struct sp_py_object *names)
{
	size_t named = names ? (size_t)sp_python.PyTuple_Size(names) : 0;

	return (count & (SIZE_MAX >> 1)) + named;
}

static struct sp_py_object *watched_call(struct sp_py_object *function,
					 struct sp_py_object *const *args, size_t count,
					 struct sp_py_object *names)
{
	struct compiled_function *row = row_of(function);
	struct sp_compiled_call call = sp_compiled_begin(function);
	int is_followed = call.is_outermost;
	int is_fed = is_followed && sp_flow_begin(&inside.flow, &row->role, row->trains, args,
						  count_all(count, names));
	struct sp_py_object *result = row->original(function, args, count, names);

	sp_compiled_end(&call, NULL, result);
	if (is_followed && result)
		sp_flow_end(&inside.flow, &row->role, row->trains, is_fed, result);
	if (result && !inside.depth)
		sp_device_state_note(result);
	return result;
}

/* Where the object keeps its vectorcall function; NULL where the layout is another. */
static vectorcall **slot_of(struct sp_py_object *function, int bytes)
{
	ptrdiff_t size, offset;
	vectorcall **slot;

	memcpy(&size, (const char *)function->type + TYPE_BASICSIZE, sizeof(size));
	memcpy(&offset, (const char *)function->type + TYPE_VECTORCALL_OFFSET, sizeof(offset));
	if (size != bytes || offset < (ptrdiff_t)sizeof(*function) || offset % 8 ||
	    offset > size - (ptrdiff_t)sizeof(*slot))
		return NULL;
	slot = (vectorcall **)(void *)((char *)function + offset);
	return *slot ? slot : NULL;
}

struct sp_py_object *sp_compiled_add(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *function, *label;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "OU", &function, &label))
		return NULL;
	return sp_python.PyBool_FromLong(row_add(function, label, NULL));
}

struct sp_py_object *sp_compiled_watch(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *function, *label;
	vectorcall **slot;
	int bytes;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "OUi", &function, &label, &bytes))
		return NULL;
	slot = slot_of(function, bytes);
	if (!slot || *slot == watched_call || !row_add(function, label, *slot))
		return sp_python.PyBool_FromLong(0);
	*slot = watched_call;
	return sp_python.PyBool_FromLong(1);
}

struct sp_py_object *sp_compiled_note(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self, (void)args;
	return sp_python.PyBool_FromLong(sp_compiled_differentiates());
}

struct sp_py_object *sp_compiled_replica(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self, (void)args;
	inside.is_replica = 1;
	return sp_python_none();
}

struct sp_py_object *sp_step_begin(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self, (void)args;
	if (!inside.depth) {
		inside.is_step_open = 1;
		inside.step = sp_range_begin();
	}
	return sp_python_none();
}

struct sp_py_object *sp_step_end(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *label;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "U", &label))
		return NULL;
	if (inside.is_step_open)
		record(inside.step, label, 1);
	inside.is_step_open = 0;
	return sp_python_none();
}

struct sp_py_object *sp_step_drop(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self, (void)args;
	inside.is_step_open = 0;
	return sp_python_none();
}
