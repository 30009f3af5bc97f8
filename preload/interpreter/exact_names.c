/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/exact_names.h"

#include <string.h>

#include "preload/settings/redact.h"
#include "preload/sys/paths.h"

#define NAME_BYTES 1024u
#define FRAME_CODE_3_8 4 /* words before f_code in a frame of 3.8 */
#define FRAME_BACK_3_8 3
#define CALLERS_MOST 256u
#define METHOD_OF_FUNCTION 2 /* words before m_ml of a builtin function */
#define METHOD_OF_DESCRIPTOR 5

void *sp_exact_code_of(struct sp_py_object *frame)
{
	struct sp_py_object *code;

	if (!sp_python.PyFrame_GetCode)
		return ((void **)frame)[FRAME_CODE_3_8];
	code = sp_python.PyFrame_GetCode(frame);
	/* The frame keeps it. */
	sp_python.Py_DecRef(code);
	return code;
}

/* A new reference; NULL: none. */
static struct sp_py_object *caller_of(struct sp_py_object *frame)
{
	struct sp_py_object *back;

	if (sp_python.PyFrame_GetBack)
		return sp_python.PyFrame_GetBack(frame);
	back = ((struct sp_py_object **)frame)[FRAME_BACK_3_8];
	if (back)
		sp_python.Py_IncRef(back);
	return back;
}

void sp_exact_open_callers(struct sp_exact_table *table)
{
	struct sp_py_object *frames[CALLERS_MOST];
	uint32_t count = 0;

	frames[0] = sp_python.PyEval_GetFrame ? sp_python.PyEval_GetFrame() : NULL;
	if (!frames[0])
		return;
	sp_python.Py_IncRef(frames[0]);
	for (count = 1; count < CALLERS_MOST; count++) {
		frames[count] = caller_of(frames[count - 1]);
		if (!frames[count])
			break;
	}
	while (count--) {
		void *code = sp_exact_code_of(frames[count]);

		if (sp_exact_open(table, code))
			sp_python.Py_IncRef(code);
		sp_python.Py_DecRef(frames[count]);
	}
}

void *sp_exact_method_of(struct sp_py_object *callable)
{
	if (callable && callable->type == sp_python.PyCFunction_Type)
		return ((void **)callable)[METHOD_OF_FUNCTION];
	if (callable && callable->type == sp_python.PyMethodDescr_Type)
		return ((void **)callable)[METHOD_OF_DESCRIPTOR];
	return NULL;
}

void sp_exact_clear(struct sp_exact_table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct sp_exact_function *function = &table->functions[table->used[i]];

		if (!function->is_c)
			sp_python.Py_DecRef(function->key);
		function->key = NULL;
	}
	table->count = table->depth = table->is_full = 0;
	table->run = table->spans = 0;
}

/* An attribute that is text; "?" where there is none. */
static size_t attribute(struct sp_py_object *object, const char *name, char *ret, size_t room)
{
	struct sp_py_object *value = sp_python.PyObject_GetAttrString(object, name);
	const char *text = value ? sp_python.PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
	struct sp_text to = sp_text_init(ret, room);

	sp_text_add(&to, text ? text : "?");
	sp_python_release(value);
	sp_python.PyErr_Clear();
	return strlen(ret);
}

static uint32_t first_line(struct sp_py_object *code)
{
	struct sp_py_object *value = sp_python.PyObject_GetAttrString(code, "co_firstlineno");
	long line = value ? sp_python.PyLong_AsLong(value) : 0;

	sp_python_release(value);
	sp_python.PyErr_Clear();
	return line > 0 ? (uint32_t)line : 0;
}

static size_t python_name(struct sp_py_object *code, char name[2 * NAME_BYTES])
{
	size_t bytes = attribute(code, "co_filename", name, NAME_BYTES);

	/* Not `<string>` and its like, which are no files. */
	if (name[0] != '<')
		bytes = sp_redact(name, bytes);
	name[bytes++] = '\t';
	return bytes + attribute(code, sp_python.minor > 10 ? "co_qualname" : "co_name",
				 name + bytes, NAME_BYTES);
}

static size_t c_name(void *method, char name[2 * NAME_BYTES])
{
	const char *own;
	struct sp_text to = sp_text_init(name, NAME_BYTES);

	memcpy(&own, method, sizeof(own));
	sp_text_add(&to, "\t{");
	sp_text_add(&to, own ? own : "?");
	sp_text_add(&to, "}");
	return strlen(name);
}

void sp_exact_write(struct sp_thread *t, const struct sp_exact_table *table, int has_phases)
{
	char name[2 * NAME_BYTES + 1];

	for (uint32_t i = 0; i < table->count; i++) {
		const struct sp_exact_function *function = &table->functions[table->used[i]];
		struct sp_called_metadata called = {
			.calls = function->calls,
			.own_ticks = function->own,
			.total_ticks = function->total,
			.own_spans = function->own_spans,
			.total_spans = function->total_spans,
			.calls_squares = function->calls_squares,
			.own_squares_us2 = function->own_squares,
			.phase = has_phases ? 1 + function->phase : 0,
		};
		size_t bytes;

		if (!function->is_c)
			called.first_line = first_line(function->key);
		bytes = function->is_c ? c_name(function->key, name)
				       : python_name(function->key, name);
		sp_define(t, SP_DEFINE_CALLED, 0, &called, sizeof(called), name, bytes);
	}
}
