/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/exact_calls.h"

#include <string.h>

#include "preload/interpreter/exact_names.h"
#include "preload/interpreter/exact_table.h"
#include "preload/recorder/intern.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/settings/config.h"
#include "preload/settings/setting.h"
#include "preload/sys/clock.h"
#include "preload/sys/memory.h"

/* Include/cpython/pystate.h */
enum { TRACE_CALL, TRACE_EXCEPTION, TRACE_LINE, TRACE_RETURN, TRACE_C_CALL, TRACE_C_EXCEPTION };
enum { TRACE_C_RETURN = 6 };

#define COST_PARTS 333u	      /* one of them is what the counting may take */
#define EVENT_NS_ASSUMED 100u /* that the interpreter takes for an event, outside of us */
#define NEIGHBOURS_MOST 64u   /* older fetches count less and less */
#define TRIES 5
#define CUT_NEEDS 2u /* a window that was cut needs that many times more */

enum way { OFF, PROFILED, MONITORED };

static uint64_t fetches_wanted, fetches_period; /* 4 and 200 */
static struct sp_py_object *switch_on, *switch_off, *empty_calls;
static uint64_t event_ticks_assumed;

/* The state of this process; a forked child begins with a new one. */
static struct {
	uint32_t pid;
	enum way way;
	int is_inside;	    /* a fetch inside of a fetch is part of it */
	const void *thread; /* that fetches; what others fetch meanwhile is not looked at */
	int is_spoilt;	    /* the open window says nothing */
	uint64_t began, fetches, next, left; /* left: fetches of the open window to come */
	uint64_t spent, may_spend, last_need;
	uint64_t event_ps; /* that the interpreter takes for an event; 0: not measured yet */
	uint64_t neighbours;
	double neighbour_mean, neighbour_squares; /* µs */
	struct sp_exact_table *table;
} state;

int sp_exact_init(void)
{
	if (!sp_config.calls || !*sp_config.calls ||
	    sp_setting_part(sp_config.calls, &fetches_wanted, &fetches_period) < 0)
		return 0;
	event_ticks_assumed =
		EVENT_NS_ASSUMED * sp_recorder_clock.ticks_per_second / 1000000000u + 1;
	return 1;
}

struct sp_py_object *sp_exact_watch(struct sp_py_object *self, struct sp_py_object *args)
{
	(void)self;
	if (!sp_python.PyArg_ParseTuple(args, "OOO", &switch_on, &switch_off, &empty_calls))
		return NULL;
	sp_python.Py_IncRef(switch_on);
	sp_python.Py_IncRef(switch_off);
	sp_python.Py_IncRef(empty_calls);
	sp_python.Py_IncRef(sp_python._Py_NoneStruct);
	return sp_python._Py_NoneStruct;
}

static long ask(struct sp_py_object *function)
{
	struct sp_py_object *none = sp_python.PyTuple_New(0), *result = NULL;
	long ret = 0;

	if (none) {
		result = sp_python.PyObject_Call(function, none, NULL);
		sp_python.Py_DecRef(none);
	}
	if (result) {
		ret = sp_python.PyLong_AsLong(result);
		sp_python.Py_DecRef(result);
	}
	sp_python.PyErr_Clear();
	return ret;
}

static int is_counting(void)
{
	return state.way != OFF && !state.is_spoilt && state.thread == &sp_tls && sp_process &&
	       state.pid == sp_process->pid;
}

/* A window that takes too long is cut short. */
static void events_end(struct sp_exact_table *table, uint64_t now)
{
	table->last = sp_clock_ticks();
	table->callback_ticks += table->last - now;
	if (table->callback_ticks + table->events * event_ticks_assumed > state.may_spend)
		state.is_spoilt = 1;
	if (table->is_full)
		state.is_spoilt = 1;
}

static void entered(void *key, int is_c)
{
	uint64_t now = sp_clock_ticks();

	if (sp_exact_push(state.table, key, is_c, now) && !is_c)
		sp_python.Py_IncRef(key);
	events_end(state.table, now);
}

static void left(void)
{
	uint64_t now = sp_clock_ticks();

	sp_exact_pop(state.table, now);
	events_end(state.table, now);
}

static int profiled(struct sp_py_object *self, struct sp_py_object *frame, int what,
		    struct sp_py_object *argument)
{
	void *method;

	(void)self;
	if (!is_counting())
		return 0;
	if (what == TRACE_CALL) {
		entered(sp_exact_code_of(frame), 0);
	} else if (what == TRACE_RETURN) {
		left();
	} else if (what == TRACE_C_CALL || what == TRACE_C_RETURN || what == TRACE_C_EXCEPTION) {
		method = sp_exact_method_of(argument);
		if (method && what == TRACE_C_CALL)
			entered(method, 1);
		else if (method)
			left();
	}
	return 0;
}

static struct sp_py_object *nothing(void)
{
	sp_python.Py_IncRef(sp_python._Py_NoneStruct);
	return sp_python._Py_NoneStruct;
}

SP_EXACT_EVENT(sp_exact_entered)
{
	(void)self, (void)count;
	if (is_counting())
		entered(args[0], 0);
	return nothing();
}

SP_EXACT_EVENT(sp_exact_left)
{
	(void)self, (void)args, (void)count;
	if (is_counting())
		left();
	return nothing();
}

/* An event of a callable that is not counted: a function of Python has an event of its own. */
static void passed(void)
{
	uint64_t now = sp_clock_ticks();

	sp_exact_charge(state.table, now);
	events_end(state.table, now);
}

SP_EXACT_EVENT(sp_exact_called)
{
	void *method = count > 2 ? sp_exact_method_of(args[2]) : NULL;

	(void)self;
	if (method && is_counting())
		entered(method, 1);
	else if (is_counting())
		passed();
	return nothing();
}

SP_EXACT_EVENT(sp_exact_returned)
{
	void *method = count > 2 ? sp_exact_method_of(args[2]) : NULL;

	(void)self;
	if (method && is_counting())
		left();
	else if (is_counting())
		passed();
	return nothing();
}

/* Where in the period a process's first window begins: processes that live for less than a period
 * have one sometimes. */
static uint64_t first_window(uint32_t pid)
{
	return 1 + fetches_wanted + pid * 2654435761u % fetches_period;
}

/* Returns 0 without memory; the next fetch asks again. */
static int state_begin(void)
{
	struct sp_exact_table *table = state.table ? state.table : sp_pages_make(sizeof(*table));

	if (!table)
		return 0;
	memset(&state, 0, sizeof(state));
	memset(table, 0, sizeof(*table));
	state.pid = sp_process->pid;
	state.began = sp_clock_ticks();
	state.next = first_window(state.pid);
	state.table = table;
	return 1;
}

static int may_begin(uint64_t now)
{
	uint64_t budget = (now - state.began) / COST_PARTS;

	if (state.fetches + 1 < state.next || budget <= state.spent ||
	    budget - state.spent < state.last_need)
		return 0;
	state.may_spend = budget - state.spent;
	return 1;
}

static void window_begin(void)
{
	state.is_spoilt = 0;
	state.left = fetches_wanted;
	sp_exact_clear(state.table);
	state.table->ticks_in_us = sp_recorder_clock.ticks_per_second / 1000000u + 1;
}

static uint64_t empty_ticks(void)
{
	uint64_t now = sp_clock_ticks();

	ask(empty_calls);
	return sp_clock_ticks() - now;
}

/* The same calls with and without events; the shortest of some tries, because other threads run. */
static void calibrate(void)
{
	struct sp_exact_table *table = state.table;
	uint64_t with = UINT64_MAX, without = UINT64_MAX, events = 1;
	enum way way = state.way;

	for (int i = 0; i < TRIES; i++) {
		uint64_t ticks;

		state.way = way;
		table->last = sp_clock_ticks();
		table->events = table->callback_ticks = 0;
		ticks = empty_ticks() - table->callback_ticks;
		events = table->events ? table->events : 1;
		with = ticks < with ? ticks : with;
	}
	state.way = OFF;
	ask(switch_off);
	if (way == PROFILED)
		sp_python.PyEval_SetProfile(NULL, NULL);
	for (int i = 0; i < TRIES; i++) {
		uint64_t ticks = empty_ticks();

		without = ticks < without ? ticks : without;
	}
	sp_exact_clear(table);
	table->events = table->callback_ticks = 0;
	state.event_ps =
		1 + (with > without ? (uint64_t)((double)(with - without) * 1e12 /
						 (double)sp_recorder_clock.ticks_per_second /
						 (double)events)
				    : 0);
}

static void events_begin(void)
{
	long way = ask(switch_on);

	state.way = way == MONITORED ? MONITORED : way == PROFILED ? PROFILED : OFF;
	if (state.way == PROFILED)
		sp_python.PyEval_SetProfile(profiled, NULL);
}

/* The time of switching is part of the cost. */
static void counting_begin(void)
{
	uint64_t now = sp_clock_ticks();

	events_begin();
	if (state.way != OFF && !state.event_ps) {
		calibrate();
		events_begin();
	}
	if (state.way == OFF) {
		sp_coverage_add("calls", "unobservable",
				"another profiler, debugger or coverage tool");
		state.is_spoilt = 1;
	}
	state.table->last = sp_clock_ticks();
	state.table->switch_ticks += state.table->last - now;
}

static void counting_end(void)
{
	uint64_t now = sp_clock_ticks();
	enum way way = state.way;

	state.way = OFF;
	if (way == OFF)
		return;
	/* A function that the program has set meanwhile is its own. */
	if (!ask(switch_off))
		state.is_spoilt = 1;
	else if (way == PROFILED)
		sp_python.PyEval_SetProfile(NULL, NULL);
	state.table->switch_ticks += sp_clock_ticks() - now;
}

uint64_t sp_exact_begin(void)
{
	if (!switch_on || !sp_process)
		return 0;
	if (state.pid != sp_process->pid && !state_begin())
		return 0;
	if (state.is_inside && state.thread != &sp_tls)
		return 0;
	if (state.is_inside++)
		return sp_clock_ticks();
	state.thread = &sp_tls;
	if (!state.left && may_begin(sp_clock_ticks()))
		window_begin();
	if (state.left)
		counting_begin();
	return sp_clock_ticks();
}

static void neighbour_add(uint64_t ticks)
{
	double us = (double)ticks * 1e6 / (double)sp_recorder_clock.ticks_per_second;
	double off = us - state.neighbour_mean;
	double weight;

	if (state.neighbours < NEIGHBOURS_MOST)
		state.neighbours++;
	weight = 1.0 / (double)state.neighbours;
	state.neighbour_mean += off * weight;
	state.neighbour_squares += (off * off * (1 - weight) - state.neighbour_squares) * weight;
}

static void window_write(void)
{
	struct sp_thread *t = sp_enter();
	const struct sp_exact_table *table = state.table;
	struct sp_calls_metadata calls = {
		.fetches = state.fetches,
		.counted = fetches_wanted,
		.events = table->events,
		.fetch_ticks = table->fetch_ticks,
		.callback_ticks = table->callback_ticks,
		.event_ps = state.event_ps,
		.neighbours = state.neighbours,
		.neighbour_ns = (uint64_t)(state.neighbour_mean * 1e3),
		.neighbour_variance_us2 = (uint64_t)state.neighbour_squares,
		.called_ticks = table->run,
	};

	if (!t || !state.neighbours)
		return;
	sp_define(t, SP_DEFINE_CALLS, 0, &calls, sizeof(calls), "", 0);
	sp_exact_write(t, table);
}

static void window_end(void)
{
	struct sp_exact_table *table = state.table;
	uint64_t now = sp_clock_ticks(), took;

	if (!state.is_spoilt)
		window_write();
	sp_exact_clear(table);
	took = table->callback_ticks + table->switch_ticks + table->events * event_ticks_assumed;
	took += sp_clock_ticks() - now;
	state.last_need = state.is_spoilt ? CUT_NEEDS * took : took;
	state.spent += took;
	state.left = 0;
	state.next = state.fetches + fetches_period - fetches_wanted + 1;
	table->events = table->callback_ticks = table->switch_ticks = table->fetch_ticks = 0;
}

static void fetch_end(uint64_t ticks, int has_result)
{
	state.fetches++;
	if (!state.left) {
		if (has_result)
			neighbour_add(ticks);
		return;
	}
	counting_end();
	/* A function is still open where the program switched the events off. */
	if (state.table->depth || !has_result)
		state.is_spoilt = 1;
	state.table->depth = 0;
	state.table->fetch_ticks += ticks;
	if (!state.is_spoilt)
		sp_exact_fetch_end(state.table);
	state.left--;
	if (state.is_spoilt || !state.left)
		window_end();
}

void sp_exact_end(uint64_t begun, int has_result)
{
	uint64_t ticks = sp_clock_ticks() - begun;
	struct sp_py_object *type, *value, *trace;

	if (!begun || !sp_process || state.pid != sp_process->pid || !state.is_inside ||
	    --state.is_inside)
		return;
	if (!has_result)
		sp_python.PyErr_Fetch(&type, &value, &trace);
	fetch_end(ticks, has_result);
	if (!has_result)
		sp_python.PyErr_Restore(type, value, trace);
}
