/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/counted_calls.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/hash_free.h"
#include "analyzer/base/order.h"
#include "analyzer/reader/clock_convert.h"
#include "trace/format.h"

#define US2 1e6 /* ns² in a µs² */
#define SPANS_ENOUGH 200.0

static double to_ns(uint64_t ns_per_tick, uint64_t ticks)
{
	return (double)sp_clock_span_ns(ns_per_tick, ticks);
}

static int take_process(struct sp_counted_calls *counted, uint32_t image, uint64_t fetches)
{
	struct sp_counted_process *process;

	HASH_FIND(hh, counted->processes, &image, sizeof(image), process);
	if (!process && HASH_COUNT(counted->processes) < SP_COUNTED_MAX) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return -ENOMEM;
		process->image = image;
		HASH_ADD(hh, counted->processes, image, sizeof(process->image), process);
	}
	if (process && fetches > process->fetches)
		process->fetches = fetches;
	return 0;
}

static int take_window(struct sp_counted_calls *counted, uint32_t image, uint64_t ns_per_tick,
		       const struct sp_definition *d)
{
	struct sp_calls_metadata window;
	double fetches, variance;

	if (d->bytes < sizeof(window))
		return 0;
	memcpy(&window, d->blob, sizeof(window));
	counted += window.is_of_steps ? SP_COUNTED_STEPS : SP_COUNTED_FETCHES;
	if (!window.neighbours || !window.counted)
		return 0;
	fetches = (double)window.counted;
	variance = (double)window.neighbour_variance_us2 * US2;
	counted->windows++;
	counted->fetches += fetches;
	counted->events += (double)window.events;
	counted->measured_ns += (double)window.events * (double)window.event_ps / 1e3;
	counted->fetch_ns += to_ns(ns_per_tick, window.fetch_ticks);
	counted->callback_ns += to_ns(ns_per_tick, window.callback_ticks);
	counted->neighbour_ns += fetches * (double)window.neighbour_ns;
	/* The window's own fetches vary, and so does the mean that they are compared with. */
	counted->neighbour_variance_ns2 +=
		variance * (fetches + fetches * fetches / (double)window.neighbours);
	return take_process(counted, image, window.fetches);
}

static struct sp_counted_function *function_of(struct sp_counted_calls *counted,
					       const struct sp_called_metadata *called,
					       const uint8_t *text, uint32_t bytes, int *ret_error)
{
	struct sp_counted_function *function = calloc(1, sizeof(*function) + bytes + 1u), *known;
	size_t key_bytes = sizeof(function->key) + bytes;

	if (!function) {
		*ret_error = -ENOMEM;
		return NULL;
	}
	function->bytes = bytes;
	function->key.first_line = called->first_line;
	function->key.phase = called->phase;
	memcpy(function->key.text, text, bytes);
	HASH_FIND(hh, counted->by_key, &function->key, key_bytes, known);
	if (!known && HASH_COUNT(counted->by_key) < SP_COUNTED_MAX &&
	    sp_text_budget_take(counted->texts, sizeof(*function) + bytes)) {
		HASH_ADD_KEYPTR(hh, counted->by_key, &function->key, key_bytes, function);
		return function;
	}
	free(function);
	return known;
}

static int take_function(struct sp_counted_calls *counted, uint64_t ns_per_tick,
			 const struct sp_definition *d)
{
	struct sp_called_metadata called;
	struct sp_counted_function *function;
	int r = 0;

	if (d->bytes < sizeof(called))
		return 0;
	memcpy(&called, d->blob, sizeof(called));
	counted += called.phase ? SP_COUNTED_STEPS : SP_COUNTED_FETCHES;
	function = function_of(counted, &called, (const uint8_t *)d->blob + sizeof(called),
			       d->bytes - (uint32_t)sizeof(called), &r);
	if (!function) {
		counted->turned_away++;
		return r;
	}
	function->calls += (double)called.calls;
	function->calls_squares += (double)called.calls_squares;
	function->own_ns += to_ns(ns_per_tick, called.own_ticks);
	function->total_ns += to_ns(ns_per_tick, called.total_ticks);
	function->own_squares_ns2 += (double)called.own_squares_us2 * US2;
	function->own_spans += (double)called.own_spans;
	function->total_spans += (double)called.total_spans;
	return 0;
}

int sp_counted_take(struct sp_counted_calls *counted, uint32_t image, uint64_t ns_per_tick,
		    const struct sp_definition *d)
{
	if (d->what == SP_DEFINE_CALLS)
		return take_window(counted, image, ns_per_tick, d);
	if (d->what == SP_DEFINE_CALLED)
		return take_function(counted, ns_per_tick, d);
	return 0;
}

static int compare(const struct sp_counted_function *x, const struct sp_counted_function *y)
{
	return memcmp(x->key.text, y->key.text, x->bytes < y->bytes ? x->bytes : y->bytes)
	       ?: SP_UP(bytes) ?: SP_UP(key.first_line) ?: SP_UP(key.phase);
}

void sp_counted_sort(struct sp_counted_calls *counted)
{
	HASH_SORT(counted->by_key, compare);
}

void sp_counted_finish(struct sp_counted_calls *counted)
{
	SP_HASH_FREE(counted->by_key);
	SP_HASH_FREE(counted->processes);
	*counted = (struct sp_counted_calls){.by_key = NULL};
}

/* Calls and what they call take at least the events inside of them. */
static double event_ns_most(const struct sp_counted_calls *counted)
{
	const struct sp_counted_function *f;
	double most = INFINITY;

	for (f = counted->by_key; f; f = f->hh.next)
		if (f->total_spans > f->own_spans && f->total_spans >= SPANS_ENOUGH)
			most = fmin(most, f->total_ns / f->total_spans);
	return most;
}

double sp_counted_event_ns(const struct sp_counted_calls *counted, double *ret_error)
{
	double longer = counted->fetch_ns - counted->callback_ns - counted->neighbour_ns;
	double by_neighbours, error, measured, ns;

	*ret_error = 0;
	if (!counted->windows || counted->events <= 0)
		return 0;
	by_neighbours = longer / counted->events;
	error = 2 * sqrt(counted->neighbour_variance_ns2) / counted->events;
	measured = counted->measured_ns / counted->events;
	ns = measured;
	if (error < measured / 2)
		ns = fmax(fmin(measured, by_neighbours + error), by_neighbours - error);
	ns = fmax(fmin(ns, event_ns_most(counted)), 0);
	/* One event may take more than another. */
	*ret_error = fmin(fmax(error, ns / 2), ns);
	return ns;
}

uint64_t sp_counted_fetches(const struct sp_counted_calls *counted)
{
	uint64_t sum = 0;

	for (struct sp_counted_process *p = counted->processes; p; p = p->hh.next)
		sum += p->fetches;
	return sum;
}
