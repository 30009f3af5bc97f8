/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/buffer_wait.h"
#include "preload/frameworks/python.h"

#include <errno.h>
#include <string.h>

#include "preload/settings/config.h"
#include "preload/frameworks/compiled_call.h"
#include "preload/frameworks/device_state.h"
#include "preload/interpreter/exact_calls.h"
#include "preload/frameworks/loaded_frameworks.h"
#include "preload/recorder/intern.h"
#include "preload/interpreter/python_api.h"
#include "preload/frameworks/python_call.h"
#include "preload/frameworks/python_lines.h"
#include "preload/stacks/stacks.h"
#include "preload/cuda/cuda_slow_calls.h"
#include "preload/cuda/cuda_time.h"
#include "preload/hooks/wake.h"
#include "preload/frameworks/range_stack.h"
#include "preload/recorder/recorder.h"
#include "preload/frameworks/torch.h"

#define GROUP "python"
#define FILE_INPUT 257 /* Py_file_input */
#define VARARGS 1      /* METH_VARARGS */
#define FASTCALL 0x80  /* METH_FASTCALL */
#define EVENT(function)                                                                            \
	(struct sp_py_object * (*)(struct sp_py_object *, struct sp_py_object *))(void (*)(void))  \
		function

static int unfit; /* there is an interpreter of an unknown kind */

/* The text of bootstrap.py, with a NUL. */
__asm__(".pushsection .rodata\n"
	"sp_bootstrap_text:\n"
	".incbin \"" SP_BOOTSTRAP_FILE "\"\n"
	".byte 0\n"
	".popsection\n");
extern const char sp_bootstrap_text[] SP_HIDDEN;

static const char calls_text[] =
#define SP_PYTHON_CALL(module, path, phase, label) module "\t" path "\t" #phase "\t" label "\n"
#include "preload/frameworks/python.def"
#undef SP_PYTHON_CALL
	;

/* A misspelt phase does not compile. */
static const uint8_t call_phases[] __attribute__((unused)) = {
#define SP_PYTHON_CALL(module, path, phase, label) SP_PHASE_##phase,
#include "preload/frameworks/python.def"
#include "preload/sys/hidden.h"
#undef SP_PYTHON_CALL
};

static const char *const phase_names[SP_PHASES] = {
#define SP_PHASE(name, ...) #name,
#include "trace/phases.def"
#undef SP_PHASE
};

/* The modules that the bootstrap waits for, and the function for them. Never released. */
static struct sp_py_object *wanted, *found;

/* find_spec(name, path, target) of a finder: asked for every module that is imported. */
static struct sp_py_object *spec_find(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *name, *path = NULL, *target = NULL;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "O|OO", &name, &path, &target))
		return NULL;
	if (!sp_python.PyDict_GetItem(wanted, name))
		return sp_python_none();
	return sp_python_call_unseen(found, args);
}

static struct sp_py_object *spec_finder(struct sp_py_object *self, struct sp_py_object *args)
{
	static struct sp_py_method method = {"find_spec", spec_find, VARARGS, NULL};

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "OO", &wanted, &found))
		return NULL;
	sp_python.Py_IncRef(wanted);
	sp_python.Py_IncRef(found);
	return sp_python.PyCFunction_NewEx(&method, NULL, NULL);
}

static struct sp_py_object *markers_attach(struct sp_py_object *self, struct sp_py_object *args)
{
	const char *version;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "s", &version))
		return NULL;
	return sp_python.PyBool_FromLong(sp_torch_attach(version));
}

static struct sp_py_object *compile_report(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self, (void)args;
	sp_torch_compiled();
	return sp_python_none();
}

static struct sp_py_object *compile_begun(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self, (void)args;
	sp_exact_steps_end();
	return sp_python_none();
}

static struct sp_py_object *coverage_add(struct sp_py_object *self, struct sp_py_object *args)
{
	const char *group, *coverage, *detail;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "sss", &group, &coverage, &detail))
		return NULL;
	sp_coverage_add(group, coverage, detail);
	return sp_python_none();
}

static struct sp_py_object *framework_add(struct sp_py_object *self, struct sp_py_object *args)
{
	const char *version;
	int number, gives_steps;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "isi", &number, &version, &gives_steps))
		return NULL;
	sp_frameworks_imported(number, version, gives_steps);
	return sp_python_none();
}

/* A range in Python's hands: its two words as bytes. */
static struct sp_py_object *range_begun(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_range range;

	(void)self, (void)args;
	sp_cuda_time_split();
	range = sp_range_begin();
	return sp_python.PyBytes_FromStringAndSize((const char *)&range, sizeof(range));
}

static struct sp_py_object *range_ended(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_range range;
	const char *bytes, *name;
	ptrdiff_t count, length;
	int kind, phase = 0;

	(void)self;
	if (!sp_python._PyArg_ParseTuple_SizeT(args, "y#is#|i", &bytes, &count, &kind, &name,
					       &length, &phase))
		return NULL;
	if (count == sizeof(range)) {
		memcpy(&range, bytes, sizeof(range));
		sp_range_end(range, (uint32_t)kind, phase, name, (size_t)length);
		sp_cuda_time_split();
	}
	return sp_python_none();
}

/* Steals value. */
static int put(struct sp_py_object *space, const char *name, struct sp_py_object *value)
{
	int ret = value ? sp_python.PyDict_SetItemString(space, name, value) : -1;

	sp_python_release(value);
	return ret;
}

static int functions_put(struct sp_py_object *space)
{
	static struct sp_py_method methods[] =
		{{"wrap", sp_python_wrap, VARARGS, NULL},
		 {"find_spec", spec_finder, VARARGS, NULL},
		 {"torch_attach", markers_attach, VARARGS, NULL},
		 {"torch_compiled", compile_report, VARARGS, NULL},
		 {"compile_begun", compile_begun, VARARGS, NULL},
		 {"coverage_add", coverage_add, VARARGS, NULL},
		 {"framework_add", framework_add, VARARGS, NULL},
		 {"range_begin", range_begun, VARARGS, NULL},
		 {"range_end", range_ended, VARARGS, NULL},
		 {"forward_watch", sp_python_forward_watch, VARARGS, NULL},
		 {"switch_watch", sp_python_switch_watch, VARARGS, NULL},
		 {"compiled_add", sp_compiled_add, VARARGS, NULL},
		 {"compiled_watch", sp_compiled_watch, VARARGS, NULL},
		 {"buffer_watch", sp_buffer_watch, VARARGS, NULL},
		 {"device_watch", sp_device_watch, VARARGS, NULL},
		 {"device_local", sp_device_local, VARARGS, NULL},
		 {"compiled_replica", sp_compiled_replica, VARARGS, NULL},
		 {"compiled_differentiates", sp_compiled_note, VARARGS, NULL},
		 {"exact_watch", sp_exact_watch, VARARGS, NULL},
		 {"exact_entered", EVENT(sp_exact_entered), FASTCALL, NULL},
		 {"exact_left", EVENT(sp_exact_left), FASTCALL, NULL},
		 {"exact_called", EVENT(sp_exact_called), FASTCALL, NULL},
		 {"exact_returned", EVENT(sp_exact_returned), FASTCALL, NULL},
		 {"step_begin", sp_step_begin, VARARGS, NULL},
		 {"step_end", sp_step_end, VARARGS, NULL},
		 {"step_drop", sp_step_drop, VARARGS, NULL}};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (put(space, methods[i].name,
			sp_python.PyCFunction_NewEx(&methods[i], NULL, NULL)) < 0)
			return -1;
	return 0;
}

static struct sp_py_object *text_or_none(const char *text)
{
	return text ? sp_python.PyUnicode_FromString(text) : sp_python_none();
}

/* module -> number of its row in trace/frameworks.def */
static struct sp_py_object *frameworks_list(void)
{
	struct sp_py_object *list = sp_python.PyDict_New();
	const char *module;

	for (int i = 0; list && (module = sp_framework_module(i)); i++)
		if (*module)
			put(list, module, sp_python.PyLong_FromLong(i));
	return list;
}

static int settings_put(struct sp_py_object *space)
{
	struct sp_py_object *phases = sp_python.PyDict_New();

	if (!phases)
		return -1;
	for (long i = 0; i < SP_PHASES; i++)
		if (put(phases, phase_names[i], sp_python.PyLong_FromLong(i)) < 0)
			return -1;
	put(space, "MODULE_FORWARD", sp_python.PyLong_FromLong(SP_EV_module_forward));
	put(space, "PYTHON_CALL", sp_python.PyLong_FromLong(SP_EV_python_call));
	put(space, "exact", text_or_none(sp_exact_init() ? "1" : NULL));
	put(space, "paths", text_or_none(sp_config.paths));
	put(space, "operators", text_or_none(sp_config_is(sp_config.ops, "1") ? "1" : NULL));
	return put(space, "phases", phases) < 0 ||
			       put(space, "frameworks", frameworks_list()) < 0 ||
			       put(space, "calls", text_or_none(calls_text)) < 0 ||
			       put(space, "functions", text_or_none(sp_config.functions)) < 0 ||
			       put(space, "modules", text_or_none(sp_config.modules)) < 0
		       ? -1
		       : 0;
}

/* The functions that the bootstrap leaves in the program keep the namespace alive. */
static int bootstrap_run(void)
{
	struct sp_py_object *space = sp_python.PyDict_New(), *code, *done = NULL;

	if (!space || sp_python_call_init() < 0)
		return -1;
	sp_python.PyDict_SetItemString(space, "__builtins__", sp_python.PyEval_GetBuiltins());
	put(space, "__name__", text_or_none("stageprof"));
	code = functions_put(space) || settings_put(space)
		       ? NULL
		       : sp_python.Py_CompileString(sp_bootstrap_text, "<stageprof>", FILE_INPUT);
	if (code) {
		done = sp_python.PyEval_EvalCode(code, space, space);
		sp_python.Py_DecRef(code);
	}
	sp_python.Py_DecRef(space);
	if (!done)
		return -1;
	sp_python.Py_DecRef(done);
	return 0;
}

/* The pending call: the main thread, between two instructions, with the GIL. */
static int python_attach(void *argument)
{
	int kept = errno, error = bootstrap_run();
	char version[32] = "";

	(void)argument;
	strncat(version, sp_python.Py_GetVersion(), sizeof(version) - 1);
	sp_python.PyErr_Clear();
	version[strcspn(version, " ")] = 0;
	sp_coverage_add(GROUP, error ? "failed" : "bound", version);
	errno = kept;
	return 0;
}

/* Many threads may come at once: the thread that takes the step makes it. */
static int is_first(void (*step)(void))
{
	return __atomic_compare_exchange_n(&sp_wake_step, &step, NULL, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void bootstrap_send(void)
{
	int kept = errno;

	/* The host's vfork child uses its parent's memory. */
	if (sp_tls.suppress_depth || (!unfit && !sp_python.Py_IsInitialized()) ||
	    !is_first(bootstrap_send))
		return;
	if (unfit)
		sp_coverage_add(GROUP, "unobservable", "an interpreter of another kind or version");
	else if (sp_python.Py_AddPendingCall(python_attach, NULL) < 0)
		sp_wake_step = bootstrap_send; /* Python's queue is full */
	errno = kept;
}

void sp_python_init(void)
{
	int error = sp_config_is(sp_config.python, "0") ? -ENOENT : sp_python_find();

	unfit = error == -ENOSYS;
	if (error == -ENOENT)
		return;
	sp_wake_step = bootstrap_send;
	sp_cuda_slow_line_ask = sp_python_line_ask;
	sp_stack_line_ask = sp_python_line_ask;
}
