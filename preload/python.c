#include "preload/python.h"

#include <errno.h>
#include <string.h>

#include "preload/config.h"
#include "preload/names.h"
#include "preload/python_api.h"
#include "preload/python_call.h"
#include "preload/cuda_time.h"
#include "preload/ranges.h"
#include "preload/record.h"
#include "preload/torch.h"

#define GROUP "python"
#define FILE_INPUT 257 /* Py_file_input */
#define VARARGS 1      /* METH_VARARGS */

int sp_python_waits;
static int unfit; /* there is an interpreter, but not one that we know */

/* bootstrap.py as it is, with a NUL. */
__asm__(".pushsection .rodata\n"
	"sp_bootstrap_text:\n"
	".incbin \"" SP_BOOTSTRAP_FILE "\"\n"
	".byte 0\n"
	".popsection\n");
extern const char sp_bootstrap_text[] __attribute__((visibility("hidden")));

static const char calls_text[] =
#define SP_PYTHON_CALL(module, path, part, label)                                            \
	module "\t" path "\t" #part "\t" label "\n"
#include "preload/python.def"
#undef SP_PYTHON_CALL
	;

/* A misspelt part does not compile. */
static const uint8_t call_parts[] __attribute__((unused)) = {
#define SP_PYTHON_CALL(module, path, part, label) SP_PART_##part,
#include "preload/python.def"
#undef SP_PYTHON_CALL
};

static const char *const part_names[SP_PARTS] = {
#define SP_PART(name, title) #name,
#include "trace/parts.def"
#undef SP_PART
};

/* The modules that the bootstrap wants to hear of, and what it does about one. Never released. */
static struct sp_py_object *wanted, *found;

static struct sp_py_object *none(void)
{
	sp_python.Py_IncRef(sp_python._Py_NoneStruct);
	return sp_python._Py_NoneStruct;
}

/* find_spec(name, path, target) of a finder: asked for every module that is imported. */
static struct sp_py_object *spec_find(struct sp_py_object *self, struct sp_py_object *args)
{
	struct sp_py_object *name, *path = NULL, *target = NULL;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "O|OO", &name, &path, &target))
		return NULL;
	if (!sp_python.PyDict_GetItem(wanted, name))
		return none();
	return sp_python.PyObject_Call(found, args, NULL);
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

static struct sp_py_object *compile_told(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self, (void)args;
	sp_torch_compiled();
	return none();
}

static struct sp_py_object *coverage_add(struct sp_py_object *self, struct sp_py_object *args)
{
	const char *group, *coverage, *detail;

	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "sss", &group, &coverage, &detail))
		return NULL;
	sp_cover(group, coverage, detail);
	return none();
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
	int kind;

	(void)self;
	if (!sp_python._PyArg_ParseTuple_SizeT(args, "y#is#", &bytes, &count, &kind, &name, &length))
		return NULL;
	if (count == sizeof(range)) {
		memcpy(&range, bytes, sizeof(range));
		sp_range_end(range, (uint32_t)kind, 0, name, (size_t)length);
		sp_cuda_time_split();
	}
	return none();
}

/* Steals value. */
static int put(struct sp_py_object *space, const char *name, struct sp_py_object *value)
{
	int ret = value ? sp_python.PyDict_SetItemString(space, name, value) : -1;

	if (value)
		sp_python.Py_DecRef(value);
	return ret;
}

static int functions_put(struct sp_py_object *space)
{
	static struct sp_py_method methods[] = {{"wrap", sp_python_wrap, VARARGS, NULL},
						{"find_spec", spec_finder, VARARGS, NULL},
						{"torch_attach", markers_attach, VARARGS, NULL},
						{"torch_compiled", compile_told, VARARGS, NULL},
						{"cover", coverage_add, VARARGS, NULL},
						{"range_begin", range_begun, VARARGS, NULL},
						{"range_end", range_ended, VARARGS, NULL}};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (put(space, methods[i].name, sp_python.PyCFunction_NewEx(&methods[i], NULL, NULL)) < 0)
			return -1;
	return 0;
}

static struct sp_py_object *text_or_none(const char *text)
{
	return text ? sp_python.PyUnicode_FromString(text) : none();
}

static int settings_put(struct sp_py_object *space)
{
	struct sp_py_object *parts = sp_python.PyDict_New();

	if (!parts)
		return -1;
	for (long i = 0; i < SP_PARTS; i++)
		if (put(parts, part_names[i], sp_python.PyLong_FromLong(i)) < 0)
			return -1;
	put(space, "MODULE_FORWARD", sp_python.PyLong_FromLong(SP_EV_module_forward));
	put(space, "PYTHON_CALL", sp_python.PyLong_FromLong(SP_EV_python_call));
	return put(space, "parts", parts) < 0 || put(space, "calls", text_or_none(calls_text)) < 0 ||
			       put(space, "functions", text_or_none(sp_config.functions)) < 0 ||
			       put(space, "modules", text_or_none(sp_config.modules)) < 0 ?
		       -1 :
		       0;
}

/* The namespace lives on in the functions that the bootstrap leaves behind. */
static int bootstrap_run(void)
{
	struct sp_py_object *space = sp_python.PyDict_New(), *code, *done = NULL;

	if (!space || sp_python_call_init() < 0)
		return -1;
	sp_python.PyDict_SetItemString(space, "__builtins__", sp_python.PyEval_GetBuiltins());
	put(space, "__name__", text_or_none("stageprof"));
	code = functions_put(space) || settings_put(space) ?
		       NULL :
		       sp_python.Py_CompileString(sp_bootstrap_text, "<stageprof>", FILE_INPUT);
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
	sp_cover(GROUP, error ? "failed" : "bound", version);
	errno = kept;
	return 0;
}

static int is_first(void)
{
	int expected = 1;

	return __atomic_compare_exchange_n(&sp_python_waits, &expected, 0, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

void sp_python_notice(void)
{
	int kept = errno;

	/* The host's vfork child has its parent's memory. */
	if (sp_tls.quiet || (!unfit && !sp_python.Py_IsInitialized()) || !is_first())
		return;
	if (unfit)
		sp_cover(GROUP, "unobservable", "an interpreter of another kind or version");
	else if (sp_python.Py_AddPendingCall(python_attach, NULL) < 0)
		sp_python_waits = 1; /* its queue is full */
	errno = kept;
}

void sp_python_init(void)
{
	int error = sp_config_is(sp_config.python, "0") ? -ENOENT : sp_python_find();

	unfit = error == -ENOSYS;
	sp_python_waits = error != -ENOENT;
}
