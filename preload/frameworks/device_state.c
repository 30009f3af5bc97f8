/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/device_state.h"

#include "preload/frameworks/range_stack.h"
#include "preload/recorder/process.h"
#include "trace/events.h"

#define OBJECTS_MOST 48u /* of a result are looked at */
#define CALLS_MOST 4u
#define NONE CALLS_MOST
#define ASKED_ALL 64u /* waits */
/* Some that follow each other, so that it is known what the device had left. Prime to the numbers
 * of steps after which loops log. */
#define ASKED_EACH 29u
#define ASKED_TOGETHER 4u

/* PyType_GetFlags() */
#define IS_INT (1ul << 24)
#define IS_LIST (1ul << 25)
#define IS_TUPLE (1ul << 26)
#define IS_BYTES (1ul << 27)
#define IS_TEXT (1ul << 28)
#define IS_DICT (1ul << 29)
#define IS_TYPE (1ul << 31)
#define HOLDS_NO_ARRAYS (IS_INT | IS_BYTES | IS_TEXT | IS_TYPE)

static struct sp_py_object *array_type, *is_ready, *no_arguments; /* never released */
static int is_local;

/* Weak references to arrays of a call's result; NULL: none. */
struct call_arrays {
	struct sp_py_object *shallow, *deep;
};

/*
 * The last compiled calls of this thread, the latest at the end: those since a wait began, and the
 * one that worked then. A short call may finish beside a long one that was made before it.
 */
static __thread struct {
	struct call_arrays calls[CALLS_MOST];
	unsigned count;
	uint64_t image; /* the process image that called; 0: nothing is known */
	uint32_t waits;
	uint32_t open_waits; /* in which the device worked at the begin */
	int is_asked;	     /* a wait began since the latest call */
	unsigned working;    /* the call that worked then; NONE: none did */
	int has_finished;    /* before it returned */
	int is_ahead;	     /* functions that return ahead were called in this thread */
} last __attribute__((tls_model("initial-exec")));

/* Objects inside a result, breadth first. */
struct result_objects {
	struct sp_py_object *list[OBJECTS_MOST];
	unsigned count;
};

static int is_full(const struct result_objects *o)
{
	return o->count == OBJECTS_MOST;
}

/* Held: a weak reference that is made may collect garbage, whose finalizers change what holds the
 * object. */
static void add(struct result_objects *o, struct sp_py_object *object)
{
	if (is_full(o) || !object || object == sp_python._Py_NoneStruct)
		return;
	sp_python.Py_IncRef(object);
	o->list[o->count++] = object;
}

static void release(struct result_objects *o)
{
	for (unsigned i = 0; i < o->count; i++)
		sp_python.Py_DecRef(o->list[i]);
}

static void add_values(struct result_objects *o, struct sp_py_object *dict)
{
	struct sp_py_object *key, *value;
	ptrdiff_t at = 0;

	while (!is_full(o) && sp_python.PyDict_Next(dict, &at, &key, &value))
		add(o, value);
}

/* Borrowed from the object, which keeps its dictionary; NULL where it has none. */
static struct sp_py_object *attributes_of(struct sp_py_object *object)
{
	struct sp_py_object *dict = sp_python.PyObject_GenericGetDict(object, NULL);

	sp_python_discard(dict);
	return dict;
}

static void open_object(struct result_objects *o, struct sp_py_object *object, int with_attributes)
{
	unsigned long flags = sp_python.PyType_GetFlags(object->type);

	if (flags & IS_TUPLE) {
		for (ptrdiff_t i = 0; i < sp_python.PyTuple_Size(object) && !is_full(o); i++)
			add(o, sp_python.PyTuple_GetItem(object, i));
	} else if (flags & IS_LIST) {
		for (ptrdiff_t i = 0; i < sp_python.PyList_Size(object) && !is_full(o); i++)
			add(o, sp_python.PyList_GetItem(object, i));
	} else if (flags & IS_DICT) {
		add_values(o, object);
	} else if (with_attributes && !(flags & HOLDS_NO_ARRAYS)) {
		struct sp_py_object *dict = attributes_of(object);

		if (dict)
			add_values(o, dict);
	}
}

static void drop(struct sp_py_object **reference)
{
	sp_python_release(*reference);
	*reference = NULL;
}

static void refer(struct sp_py_object **ret, struct sp_py_object *array)
{
	*ret = sp_python.PyWeakref_NewRef(array, NULL);
	if (!*ret)
		sp_python.PyErr_Clear();
}

/* The first array is the likeliest to live on, as a loss does; the last one may be a weight. */
static struct call_arrays refer_arrays(struct sp_py_object *result, int with_attributes)
{
	struct result_objects o = {.count = 0};
	struct sp_py_object *first = NULL, *latest = NULL;
	struct call_arrays arrays = {NULL, NULL};

	add(&o, result);
	for (unsigned i = 0; i < o.count; i++) {
		if (o.list[i]->type != array_type) {
			open_object(&o, o.list[i], with_attributes);
			continue;
		}
		first = first ? first : o.list[i];
		latest = o.list[i];
	}
	if (first)
		refer(&arrays.shallow, first);
	if (latest != first)
		refer(&arrays.deep, latest);
	release(&o);
	return arrays;
}

static void drop_call(struct call_arrays *call)
{
	drop(&call->shallow);
	drop(&call->deep);
}

static void forget_calls(void)
{
	for (unsigned i = 0; i < last.count; i++)
		drop_call(&last.calls[i]);
	last.count = 0;
}

static void keep_working_call(void)
{
	struct call_arrays call;

	if (last.working >= last.count) {
		forget_calls();
		return;
	}
	call = last.calls[last.working];
	last.calls[last.working] = (struct call_arrays){NULL, NULL};
	forget_calls();
	last.calls[last.count++] = call;
}

static void forget_first(void)
{
	drop_call(&last.calls[0]);
	last.count--;
	for (unsigned i = 0; i < last.count; i++)
		last.calls[i] = last.calls[i + 1];
}

/* A process that was forked must not touch its parent's arrays. */
static void forget(void)
{
	if (last.image == sp_process->image_start_ns)
		forget_calls();
	last.count = 0;
	last.image = 0;
	last.has_finished = 0;
	last.is_asked = 0;
}

static int is_next_asked(void)
{
	return last.waits < ASKED_ALL || last.waits % ASKED_EACH < ASKED_TOGETHER;
}

/* An array that is gone, or was given to another computation, has no answer. The reference is held:
 * an exception that is made may collect garbage, whose finalizers may call compiled functions. */
static enum sp_device_state ask(struct sp_py_object *reference)
{
	enum sp_device_state state = SP_DEVICE_UNKNOWN;
	struct sp_py_object *array, *method = NULL, *answer = NULL;

	if (!reference)
		return SP_DEVICE_UNKNOWN;
	sp_python.Py_IncRef(reference);
	array = sp_python.PyObject_Call(reference, no_arguments, NULL);
	if (array && array != sp_python._Py_NoneStruct)
		method = sp_python.PyObject_GetAttr(array, is_ready);
	if (method)
		answer = sp_python.PyObject_Call(method, no_arguments, NULL);
	if (answer)
		state = sp_python.PyObject_IsTrue(answer) ? SP_DEVICE_READY : SP_DEVICE_WORKS;
	if (sp_python.PyErr_Occurred())
		sp_python.PyErr_Clear();
	drop(&answer);
	drop(&method);
	drop(&array);
	drop(&reference);
	return state;
}

static enum sp_device_state state_of(const struct call_arrays *arrays)
{
	enum sp_device_state state = ask(arrays->shallow);

	return state == SP_DEVICE_UNKNOWN ? ask(arrays->deep) : state;
}

static enum sp_device_state state_now(void)
{
	enum sp_device_state latest = SP_DEVICE_UNKNOWN;

	if (last.has_finished)
		return SP_DEVICE_READY;
	last.working = NONE;
	for (unsigned i = last.count; i-- > 0;) {
		enum sp_device_state state = state_of(&last.calls[i]);

		if (i == last.count - 1)
			latest = state;
		if (state != SP_DEVICE_WORKS)
			continue;
		last.working = i;
		return state;
	}
	return latest;
}

static void make_room(void)
{
	if (last.image != sp_process->image_start_ns || last.has_finished)
		forget();
	else if (last.is_asked)
		keep_working_call();
	else if (last.count == CALLS_MOST)
		forget_first();
	last.is_asked = 0;
}

/* A call inside of a wait is the loader's: what the wait hides is the work before it. A finalizer
 * that runs while arrays are referred to may come here too, so the room is made after that. */
void sp_device_state_note(struct sp_py_object *result)
{
	struct call_arrays arrays;

	last.is_ahead = 1;
	if (last.open_waits && last.image == sp_process->image_start_ns)
		return;
	if (!array_type || !is_next_asked()) {
		forget();
		return;
	}
	arrays = refer_arrays(result, 0);
	if (!arrays.shallow)
		arrays = refer_arrays(result, 1);
	make_room();
	last.calls[last.count++] = arrays;
	last.image = sp_process->image_start_ns;
}

void sp_device_state_returned(void)
{
	if (!is_local || last.is_ahead)
		return;
	forget();
	if (!is_next_asked())
		return;
	last.has_finished = 1;
	last.image = sp_process->image_start_ns;
}

/* A process that was forked must not ask its parent's arrays. */
static int is_known_here(void)
{
	return last.image && last.image == sp_process->image_start_ns;
}

enum sp_device_state sp_device_state_begin(void)
{
	enum sp_device_state state;

	if (!array_type && !is_local)
		return SP_DEVICE_UNKNOWN;
	last.waits++;
	if (!is_known_here())
		return SP_DEVICE_UNKNOWN;
	last.is_asked = 1;
	state = state_now();
	last.open_waits += state == SP_DEVICE_WORKS;
	return state;
}

static enum sp_device_state state_after(void)
{
	struct sp_py_object *type, *value, *trace;
	enum sp_device_state state;

	sp_python.PyErr_Fetch(&type, &value, &trace);
	state = is_known_here() ? state_now() : SP_DEVICE_UNKNOWN;
	sp_python.PyErr_Restore(type, value, trace);
	return state;
}

void sp_device_state_end(enum sp_device_state begun)
{
	static const char idle[] = "device idle in a wait for a batch",
			  works[] = "device busy in a wait for a batch",
			  drained[] = "device finished in a wait for a batch";
	enum sp_device_state ended = begun == SP_DEVICE_WORKS ? state_after() : begun;
	struct sp_range now = sp_range_begin();

	last.open_waits -= begun == SP_DEVICE_WORKS;
	if (begun == SP_DEVICE_READY)
		sp_range_end(now, SP_EV_python_call, SP_PHASE_device_idle, idle, sizeof(idle) - 1);
	else if (ended == SP_DEVICE_WORKS)
		sp_range_end(now, SP_EV_python_call, SP_PHASE_device_busy, works,
			     sizeof(works) - 1);
	else if (ended == SP_DEVICE_READY)
		sp_range_end(now, SP_EV_python_call, SP_PHASE_device_drained, drained,
			     sizeof(drained) - 1);
}

struct sp_py_object *sp_device_watch(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *type;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "O", &type))
		return NULL;
	is_ready = sp_python.PyUnicode_FromString("is_ready");
	no_arguments = sp_python.PyTuple_New(0);
	if (!is_ready || !no_arguments)
		return NULL;
	sp_python.Py_IncRef(type);
	array_type = type;
	return sp_python.PyBool_FromLong(1);
}

struct sp_py_object *sp_device_local(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "p", &is_local))
		return NULL;
	return sp_python.PyBool_FromLong(1);
}
