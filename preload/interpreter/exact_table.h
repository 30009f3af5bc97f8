/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of an open window of STAGEPROF_CALLS: calls and times of each. Time between two
 * events is the innermost function's own; the time inside of the recorder is nobody's. Memory is
 * the caller's, and of fixed size; a table without room says so.
 */
#ifndef STAGEPROF_PRELOAD_EXACT_TABLE_H
#define STAGEPROF_PRELOAD_EXACT_TABLE_H

#include <stdint.h>

#define SP_EXACT_FUNCTIONS 4096u /* a power of two */
#define SP_EXACT_DEPTH 1024u

struct sp_exact_function {
	void *key; /* NULL: free */
	uint32_t is_c, open;
	uint32_t phase; /* a function has a row for each phase */
	uint64_t calls, own, total;
	uint64_t own_spans,
		total_spans; /* between two events; the interpreter's price is in each */
	uint64_t fetch_calls, calls_squares;
	uint64_t fetch_own, own_squares; /* µs */
};

struct sp_exact_table {
	uint64_t last; /* end of the last event */
	uint64_t run, spans;
	uint64_t events, callback_ticks, switch_ticks, fetch_ticks;
	uint64_t put_off_ticks; /* in callbacks, beside callback_ticks: their core was another's */
	uint32_t count, depth;
	uint32_t is_full;
	uint32_t phase;	      /* of the calls to come; set by the caller */
	uint64_t ticks_in_us; /* set by the caller, not 0 */
	uint32_t used[SP_EXACT_FUNCTIONS];
	struct {
		uint32_t function;
		uint64_t run, spans;
	} stack[SP_EXACT_DEPTH];
	struct sp_exact_function functions[SP_EXACT_FUNCTIONS];
};

/* An event: the time since the last one is the innermost function's own.
 * push and pop do it, too. */
void sp_exact_charge(struct sp_exact_table *table, uint64_t now);

/* Returns 1 for a function that the table did not have. */
int sp_exact_push(struct sp_exact_table *table, void *key, int is_c, uint64_t now);

/* A function that was called before the window: it has time, and no call. Innermost last, before
 * the first event. Returns as sp_exact_push(). */
int sp_exact_open(struct sp_exact_table *table, void *key);

/* The end of a call of `key`; nothing where the innermost function is another. */
void sp_exact_pop(struct sp_exact_table *table, const void *key, uint64_t now);

/* All functions end: the window does. */
void sp_exact_close(struct sp_exact_table *table, uint64_t now);

/* The end of one fetch: what it added is squared. */
void sp_exact_fetch_end(struct sp_exact_table *table);

#endif
