/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/python_lines.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "preload/sys/paths.h"
#include "preload/recorder/process.h"
#include "preload/interpreter/python_api.h"
#include "preload/settings/redact.h"
#include "preload/sys/sys.h"

#define FRAMES_MAX 64
#define CALLS_MAX 64u
#define LINE_BYTES 1024

/*
 * Slow calls whose line is pending: those that the main thread makes in one call of Python. A
 * call beyond the table has no line. Fork copies the table into a child, which never gets an
 * answer. A handler of the main thread may add to it.
 */
static struct {
	uint32_t pending_pid; /* pid; 0: nothing is pending */
	uint32_t count;
	struct slow_call {
		struct sp_slow_call_metadata metadata;
		uint32_t stack;
	} calls[CALLS_MAX];
} pending;

/* Appends an attribute that is text. */
static void add_text(struct sp_text *text, struct sp_py_object *object, const char *name)
{
	struct sp_py_object *value = sp_python.PyObject_GetAttrString(object, name);
	const char *bytes = value ? sp_python.PyUnicode_AsUTF8AndSize(value, NULL) : NULL;

	sp_text_add(text, bytes ? bytes : "?");
	sp_python_release(value);
}

/* "file:line\tfunction" of a frame into text. */
static void frame_show(struct sp_text *text, struct sp_py_object *frame)
{
	struct sp_py_object *code = sp_python.PyFrame_GetCode(frame);
	int line = sp_python.PyFrame_GetLineNumber(frame);

	add_text(text, code, "co_filename");
	sp_text_add_char(text, ':');
	sp_text_add_number(text, line > 0 ? (uint64_t)line : 0, 10);
	sp_text_add_char(text, '\t');
	add_text(text, code, "co_name");
	sp_python.Py_DecRef(code);
}

static int is_library(const char *text)
{
	return strstr(text, "/site-packages/") || strstr(text, "/dist-packages/") || text[0] == '<';
}

/* The innermost frame of the program's own code, or the innermost of all. Returns 0 if there is
 * none. */
static int line_find(char line[LINE_BYTES])
{
	struct sp_py_object *frame = sp_python.PyEval_GetFrame(), *back;
	char candidate[LINE_BYTES];

	if (!frame)
		return 0;
	line[0] = 0;
	sp_python.Py_IncRef(frame);
	for (int depth = 0; frame && depth < FRAMES_MAX; depth++) {
		struct sp_text text = sp_text_init(candidate, sizeof(candidate));

		frame_show(&text, frame);
		if (!line[0] || !is_library(candidate))
			memcpy(line, candidate, sizeof(candidate));
		back = is_library(candidate) ? sp_python.PyFrame_GetBack(frame) : NULL;
		sp_python.Py_DecRef(frame);
		frame = back;
	}
	sp_python_release(frame);
	return 1;
}

/* Not earlier, because the folder identifies the frame's owner. */
static void line_redact(char line[LINE_BYTES])
{
	char *tab = strchr(line, '\t'),
	     *colon = tab ? memrchr(line, ':', (size_t)(tab - line)) : NULL;
	char rest[LINE_BYTES];
	struct sp_text text;

	if (!colon)
		return;
	strcpy(rest, colon);
	*colon = 0;
	text = (struct sp_text){line + sp_redact(line, (size_t)(colon - line)),
				line + LINE_BYTES - 1, 0};
	sp_text_add(&text, rest);
}

/* The pending call: the main thread, between two instructions, with the GIL. */
static int line_take(void *unused)
{
	uint32_t count = pending.count < CALLS_MAX ? pending.count : CALLS_MAX;
	struct sp_thread *t = sp_enter();
	char line[LINE_BYTES];
	int kept = errno;

	(void)unused;
	if (t && line_find(line)) {
		line_redact(line);
		for (uint32_t i = 0; i < count; i++)
			sp_define(t, SP_DEFINE_LINE, pending.calls[i].stack,
				  &pending.calls[i].metadata, sizeof(pending.calls[i].metadata),
				  line, strlen(line));
	}
	pending.pending_pid = 0;
	sp_python.PyErr_Clear();
	errno = kept;
	return 0;
}

static int is_main_thread(void)
{
	return sp_process && (uint32_t)SP_SYS1(SYS_gettid, 0) == sp_process->pid;
}

static int can_ask(void)
{
	return sp_python.Py_AddPendingCall && sp_python.PyEval_GetFrame &&
	       sp_python.PyFrame_GetBack && sp_python.PyFrame_GetCode &&
	       sp_python.PyFrame_GetLineNumber;
}

static void add(const struct sp_slow_call_metadata *metadata, uint32_t stack)
{
	uint32_t place = __atomic_fetch_add(&pending.count, 1, __ATOMIC_RELAXED);

	if (place < CALLS_MAX)
		pending.calls[place] = (struct slow_call){*metadata, stack};
}

void sp_python_line_ask(const struct sp_slow_call_metadata *metadata, uint32_t stack)
{
	if (!can_ask() || !is_main_thread() || !sp_python.Py_IsInitialized())
		return;
	if (pending.pending_pid == sp_process->pid) {
		add(metadata, stack);
		return;
	}
	pending.count = 0;
	add(metadata, stack);
	pending.pending_pid = sp_process->pid;
	if (sp_python.Py_AddPendingCall(line_take, NULL) < 0)
		pending.pending_pid = 0;
}
