/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waiting time of one thread, by cause and by file.
 *
 * Where the thread's context switches were observed, a time without a core belongs to the call that
 * it lies in. Elsewhere a call that only waits (cause.def) counts with its whole time, and other
 * calls with the time that cannot have been on a core, by the kernel's times of the thread. The
 * rest of the thread's time off the core has the cause `unknown`. The kernel says how long the
 * thread waited for a core, also at the end of its other waits, and not at the end of which: each
 * of them counts for so much less. Points in time are CLOCK_REALTIME.
 */
#ifndef STAGEPROF_ANALYZER_WAIT_SUMS_H
#define STAGEPROF_ANALYZER_WAIT_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/workers/cause.h"
#include "trace/events.h"

/* The source of a row. The names are the contract of JSON and CSV. */
enum sp_wait_source {
	SP_WAIT_SOURCE_CALLS,	  /* the times of calls that wait */
	SP_WAIT_SOURCE_SWITCHES,  /* context switches and page faults, each */
	SP_WAIT_SOURCE_COUNTERS,  /* the kernel's times and counts of a fetch */
	SP_WAIT_SOURCE_SCHEDSTAT, /* the kernel's times of the thread */
	SP_WAIT_SOURCES
};

const char *sp_wait_source_name(enum sp_wait_source source);

struct sp_wait_row {
	enum sp_cause cause;
	enum sp_wait_source source;
	uint32_t id;		      /* of a file; 0: not known, one of many, or none */
	uint64_t ns, count;	      /* count: of waits; 0: they were not counted */
	uint64_t held_ns;	      /* own to the sums: time of which a part may count */
	uint64_t open_ns, open_count; /* own to the sums: observed, counts if no record was lost */
};

/* The rows of one thread. */
struct sp_thread_waits {
	uint32_t stream;
	uint64_t ns; /* that its rows are of: the thread's life, or a trainer's steps */
	struct sp_wait_row *rows; /* owned; by cause, then the longest first */
	uint32_t count;
};

/* Times of a thread from its kernel. */
struct sp_wait_times {
	int64_t begin_ns, end_ns; /* calls and fetches that begin elsewhere do not count */
	bool is_known;		  /* else the members below are not */
	uint64_t cpu_ns, ready_ns;
};

/* A call that may wait. */
struct sp_wait_call {
	int64_t start_ns, end_ns;
	enum sp_cause cause;
	bool waits_all; /* of its time (cause.def) */
	bool reads_file;
	bool is_timed_out;
	uint32_t id; /* as in struct sp_wait_row; of a lock or a condition its address */
};

/* A time outside of fetches that was observed. */
struct sp_wait_between {
	int64_t end_ns;
	bool has_lost;				/* records: the members below are not known */
	uint64_t blocked_ns, page_ns, ready_ns; /* as in struct sp_wait_fetch */
};

/* A fetch that has ended, without the fetches inside of it. */
struct sp_wait_fetch {
	int64_t start_ns;
	uint64_t wall_ns, cpu_ns, ready_ns;
	uint64_t read_ns; /* in reads of files */
	bool is_observed;
	bool waits_for_pages; /* where it is not observed: blocked time in no known call */
	uint64_t blocked_ns;  /* observed, outside of page faults */
	uint64_t page_ns;     /* observed, blocked in page faults */
};

struct sp_wait_sums; /* of one thread at a time */

struct sp_wait_sums *sp_wait_sums_new(void); /* NULL: no memory */
void sp_wait_sums_free(struct sp_wait_sums *s);

void sp_wait_sums_begin(struct sp_wait_sums *s, const struct sp_wait_times *times);

/* In the order of their ends. */
void sp_wait_sums_call(struct sp_wait_sums *s, const struct sp_wait_call *call);

/* A time without a core and a page fault that were observed: they come after the calls in the same
 * fetch, or between fetches, and before the fetch itself, or the end of that time. */
void sp_wait_sums_off_core(struct sp_wait_sums *s, enum sp_no_core why, int64_t start_ns,
			   int64_t end_ns);
void sp_wait_sums_page(struct sp_wait_sums *s, uint32_t file, uint64_t ns);

/* Returns the part of fetch->read_ns that surely was on a core. */
uint64_t sp_wait_sums_fetch(struct sp_wait_sums *s, const struct sp_wait_fetch *fetch);

void sp_wait_sums_between(struct sp_wait_sums *s, const struct sp_wait_between *between);

/* The thread's rows, for free(). Returns 0 or -ENOMEM. */
int sp_wait_sums_end(struct sp_wait_sums *s, struct sp_thread_waits *ret);

#endif
