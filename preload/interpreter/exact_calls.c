/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/exact_calls.h"

#include <string.h>

#include "preload/interpreter/exact_cost.h"
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
#define STEPS_ALIKE 8 /* times the mean is the longest step that counts */
#define CUT_NEEDS 2u  /* a window that was cut needs that many times more */

enum way { OFF, PROFILED, MONITORED };

static uint64_t fetches_wanted, fetches_period; /* 4 and 200 */
static struct sp_py_object *switch_on, *switch_off, *empty_calls;
static uint64_t event_ticks_assumed;
static int has_no_steps; /* that may be counted, and never will; also in forked children */

/* The windows of one kind: fetches of a loader, or steps of the training loop. */
struct rhythm {
	uint64_t units, next, left; /* left: units of the open window to come */
	uint64_t last_need;
	uint64_t neighbours;
	double neighbour_mean, neighbour_squares; /* µs */
};

/* The state of this process; a forked child begins with a new one. */
static struct {
	uint32_t pid;
	enum way way;
	int is_inside;	    /* a fetch inside of a fetch is part of it */
	const void *thread; /* that counts; other threads are not looked at */
	int is_spoilt;	    /* the open window says nothing */
	uint64_t began, spent, may_spend;
	uint64_t event_ps; /* that the interpreter takes for an event; 0: not measured yet */
	struct rhythm fetches, steps;
	struct rhythm *open; /* the window at hand; NULL: none */
	const void *step_thread;
	uint64_t step_began; /* 0: not yet */
	uint64_t last_step;  /* its number */
	uint64_t step_ticks_most;
	int is_step_broken; /* this step contains more than a step */
	struct sp_exact_table *table;
} state;

int sp_exact_is_asked;

int sp_exact_init(void)
{
	if (!sp_config.calls || !*sp_config.calls ||
	    sp_setting_part(sp_config.calls, &fetches_wanted, &fetches_period) < 0)
		return 0;
	event_ticks_assumed =
		EVENT_NS_ASSUMED * sp_recorder_clock.ticks_per_second / 1000000000u + 1;
	sp_exact_is_asked = 1;
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
	return sp_python_none();
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

static void switch_events_off(void)
{
	enum way way = state.way;

	state.way = OFF;
	if (way == OFF)
		return;
	/* A function that the program has set meanwhile is its own. */
	if (!ask(switch_off))
		state.is_spoilt = 1;
	else if (way == PROFILED)
		sp_python.PyEval_SetProfile(NULL, NULL);
}

/* A step has no end that is sure to come. */
static void spoil(void)
{
	state.is_spoilt = 1;
	if (state.open == &state.steps)
		switch_events_off();
}

/* The window of a loop that has ended is still open: its time is no step's. */
static int is_no_step(uint64_t now)
{
	return state.open == &state.steps && state.step_began &&
	       now - state.step_began > state.step_ticks_most;
}

/* A window that takes too long is cut short. */
static void events_end(struct sp_exact_table *table, uint64_t now)
{
	uint64_t took, cost;

	table->last = sp_clock_ticks();
	took = table->last - now;
	cost = sp_exact_callback_cost(took, table->ticks_in_us);
	table->callback_ticks += cost;
	table->put_off_ticks += took - cost;
	if (table->callback_ticks + table->events * event_ticks_assumed > state.may_spend ||
	    table->is_full || is_no_step(now))
		spoil();
}

/* A fetch in a step has windows of its own; its events cost all the same. */
static void passed_by_step(void)
{
	uint64_t now = sp_clock_ticks();

	state.table->events++;
	events_end(state.table, now);
}

static int is_counting(void)
{
	if (state.way == OFF)
		return 0;
	/* forked in the middle of a step */
	if (!sp_process || state.pid != sp_process->pid) {
		switch_events_off();
		return 0;
	}
	if (state.is_spoilt || state.thread != &sp_tls)
		return 0;
	if (!state.is_inside || state.open == &state.fetches)
		return 1;
	passed_by_step();
	return 0;
}

static void entered(void *key, int is_c)
{
	uint64_t now = sp_clock_ticks();

	if (sp_exact_push(state.table, key, is_c, now) && !is_c)
		sp_python.Py_IncRef(key);
	events_end(state.table, now);
}

static void left(const void *key)
{
	uint64_t now = sp_clock_ticks();

	sp_exact_pop(state.table, key, now);
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
		left(sp_exact_code_of(frame));
	} else if (what == TRACE_C_CALL || what == TRACE_C_RETURN || what == TRACE_C_EXCEPTION) {
		method = sp_exact_method_of(argument);
		if (method && what == TRACE_C_CALL)
			entered(method, 1);
		else if (method)
			left(method);
	}
	return 0;
}

SP_EXACT_EVENT(sp_exact_entered)
{
	(void)self, (void)count;
	if (is_counting())
		entered(args[0], 0);
	return sp_python_none();
}

SP_EXACT_EVENT(sp_exact_left)
{
	(void)self, (void)count;
	if (is_counting())
		left(args[0]);
	return sp_python_none();
}

/* An event of a callable that is not counted: a function of Python has an event of its own. */
static void passed(void)
{
	uint64_t now = sp_clock_ticks();

	sp_exact_charge(state.table, now);
	events_end(state.table, now);
}

/* A call into C begins or ends. NULL: of a callable that is not counted. */
static struct sp_py_object *c_event(void *method, int begins)
{
	if (!is_counting())
		return sp_python_none();
	if (!method)
		passed();
	else if (begins)
		entered(method, 1);
	else
		left(method);
	return sp_python_none();
}

SP_EXACT_EVENT(sp_exact_called)
{
	(void)self;
	return c_event(count > 2 ? sp_exact_method_of(args[2]) : NULL, 1);
}

SP_EXACT_EVENT(sp_exact_returned)
{
	(void)self;
	return c_event(count > 2 ? sp_exact_method_of(args[2]) : NULL, 0);
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
	switch_events_off();
	memset(&state, 0, sizeof(state));
	memset(table, 0, sizeof(*table));
	state.pid = sp_process->pid;
	state.began = sp_clock_ticks();
	state.fetches.next = state.steps.next = first_window(state.pid);
	state.table = table;
	return 1;
}

static int may_begin(const struct rhythm *r, uint64_t now)
{
	uint64_t budget = (now - state.began) / COST_PARTS;

	if (r->units + 1 < r->next || budget <= state.spent || budget - state.spent < r->last_need)
		return 0;
	state.may_spend = budget - state.spent;
	return 1;
}

static void window_begin(struct rhythm *r)
{
	state.is_spoilt = 0;
	state.open = r;
	r->left = fetches_wanted;
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
		table->events = table->callback_ticks = table->put_off_ticks = 0;
		ticks = empty_ticks() - table->callback_ticks - table->put_off_ticks;
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
	table->events = table->callback_ticks = table->put_off_ticks = 0;
	state.event_ps =
		1 + (with > without ? (uint64_t)((double)(with - without) * 1e12 /
						 (double)sp_recorder_clock.ticks_per_second /
						 (double)events)
				    : 0);
	/* the events were switched off meanwhile */
	if (state.is_spoilt)
		state.event_ps = 0;
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
	uint64_t begun_ns = sp_exact_work_begin();

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
	state.table->switch_ticks += sp_exact_work_end(begun_ns);
	state.table->last = sp_clock_ticks();
}

static void counting_end(void)
{
	uint64_t begun_ns;

	if (state.way == OFF)
		return;
	begun_ns = sp_exact_work_begin();
	switch_events_off();
	state.table->switch_ticks += sp_exact_work_end(begun_ns);
}

/* Returns 1 where the process has a state. */
static int is_ready(void)
{
	return switch_on && sp_process && (state.pid == sp_process->pid || state_begin());
}

uint64_t sp_exact_begin(void)
{
	if (!is_ready() || (state.is_inside && state.thread != &sp_tls))
		return 0;
	if (state.open == &state.steps && state.thread != &sp_tls)
		return 0;
	if (state.is_inside++ || state.open == &state.steps)
		return sp_clock_ticks();
	state.thread = &sp_tls;
	if (!state.fetches.left && may_begin(&state.fetches, sp_clock_ticks()))
		window_begin(&state.fetches);
	if (state.fetches.left) {
		state.is_step_broken = 1;
		counting_begin();
	}
	return sp_clock_ticks();
}

static void neighbour_add(struct rhythm *r, uint64_t ticks)
{
	double us = (double)ticks * 1e6 / (double)sp_recorder_clock.ticks_per_second;
	double off = us - r->neighbour_mean;
	double weight;

	if (r->neighbours < NEIGHBOURS_MOST)
		r->neighbours++;
	weight = 1.0 / (double)r->neighbours;
	r->neighbour_mean += off * weight;
	r->neighbour_squares += (off * off * (1 - weight) - r->neighbour_squares) * weight;
}

static void window_write(const struct rhythm *r)
{
	struct sp_thread *t = sp_enter();
	const struct sp_exact_table *table = state.table;
	/* a callback that was put off while the events were switched on is in no fetch */
	uint64_t put_off = table->put_off_ticks < table->fetch_ticks ? table->put_off_ticks : 0;
	struct sp_calls_metadata calls = {
		.fetches = r->units,
		.counted = fetches_wanted,
		.events = table->events,
		.fetch_ticks = table->fetch_ticks - put_off,
		.callback_ticks = table->callback_ticks,
		.event_ps = state.event_ps,
		.neighbours = r->neighbours,
		.neighbour_ns = (uint64_t)(r->neighbour_mean * 1e3),
		.neighbour_variance_us2 = (uint64_t)r->neighbour_squares,
		.called_ticks = table->run,
		.is_of_steps = r == &state.steps,
	};

	if (!t || !r->neighbours)
		return;
	sp_define(t, SP_DEFINE_CALLS, 0, &calls, sizeof(calls), "", 0);
	sp_exact_write(t, table, r == &state.steps);
}

static void window_end(struct rhythm *r)
{
	struct sp_exact_table *table = state.table;
	uint64_t begun_ns = sp_exact_work_begin(), took;

	if (!state.is_spoilt)
		window_write(r);
	sp_exact_clear(table);
	took = table->callback_ticks + table->switch_ticks + table->events * event_ticks_assumed;
	took += sp_exact_work_end(begun_ns);
	r->last_need = state.is_spoilt ? CUT_NEEDS * took : took;
	state.spent += took;
	r->left = 0;
	r->next = r->units + fetches_period - fetches_wanted + 1;
	state.open = NULL;
	table->events = table->callback_ticks = table->put_off_ticks = 0;
	table->switch_ticks = table->fetch_ticks = 0;
}

/* The end of a fetch or a step that was counted. */
static void counted_end(struct rhythm *r, uint64_t ticks)
{
	state.table->fetch_ticks += ticks;
	if (!state.is_spoilt)
		sp_exact_fetch_end(state.table);
	r->left--;
	if (state.is_spoilt || !r->left)
		window_end(r);
}

static void fetch_end(uint64_t ticks, int has_result)
{
	struct rhythm *r = &state.fetches;

	r->units++;
	if (!r->left) {
		if (has_result && !state.open)
			neighbour_add(r, ticks);
		return;
	}
	counting_end();
	/* A function is still open where the program switched the events off. */
	if (state.table->depth || !has_result)
		state.is_spoilt = 1;
	state.table->depth = 0;
	counted_end(r, ticks);
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
	if (state.open == &state.steps)
		state.table->last = sp_clock_ticks();
}

/*
 * Steps of the training loop. A step is the time from the end of an optimizer's step to the end of
 * the next one, so its window begins and ends in the middle of calls.
 */

int sp_exact_phase(int phase)
{
	int ret = 0;

	if (state.open == &state.steps && state.thread == &sp_tls) {
		ret = (int)state.table->phase;
		state.table->phase = (uint32_t)phase;
	}
	return ret;
}

static void step_end(uint64_t now)
{
	struct rhythm *r = &state.steps;

	r->units++;
	if (!r->left) {
		if (!state.is_step_broken)
			neighbour_add(r, now - state.step_began);
		return;
	}
	if (state.way == OFF || state.is_step_broken)
		state.is_spoilt = 1;
	counting_end();
	if (!state.is_spoilt)
		sp_exact_close(state.table, now);
	state.table->depth = 0;
	counted_end(r, now - state.step_began);
}

static void step_begin(void)
{
	struct rhythm *r = &state.steps;

	if (!r->left && !state.fetches.left && may_begin(r, sp_clock_ticks()))
		window_begin(r);
	if (!r->left)
		return;
	state.thread = &sp_tls;
	state.step_ticks_most = (uint64_t)(STEPS_ALIKE * r->neighbour_mean *
					   (double)sp_recorder_clock.ticks_per_second / 1e6);
	state.step_began = 0;
	counting_begin();
	state.table->phase = 0;
	sp_exact_open_callers(state.table);
	state.table->last = sp_clock_ticks();
}

void sp_exact_step(uint64_t steps)
{
	if (!is_ready() || has_no_steps || steps == state.last_step ||
	    (state.step_thread && state.step_thread != &sp_tls))
		return;
	state.last_step = steps;
	state.step_thread = &sp_tls;
	/* a fetch of another thread is not over */
	if (state.is_inside) {
		state.is_step_broken = 1;
		return;
	}
	if (state.step_began)
		step_end(sp_clock_ticks());
	step_begin();
	state.is_step_broken = 0;
	state.step_began = sp_clock_ticks();
}

void sp_exact_step_break(void)
{
	if (!switch_on || state.step_thread != &sp_tls)
		return;
	state.is_step_broken = 1;
	if (state.open == &state.steps)
		spoil();
}

void sp_exact_steps_end(void)
{
	if (!switch_on || has_no_steps)
		return;
	has_no_steps = 1;
	sp_coverage_add("calls", "unobservable", "the training loop, because torch.compile runs");
	if (state.open != &state.steps)
		return;
	spoil();
	state.table->depth = 0;
	window_end(&state.steps);
}
