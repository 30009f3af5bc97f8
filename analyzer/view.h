/*
 * A view shows one side of a report. To add one: a line in views.def and a file view_NAME.c that defines
 * sp_view_NAME().
 */
#ifndef STAGEPROF_ANALYZER_VIEW_H
#define STAGEPROF_ANALYZER_VIEW_H

#include "analyzer/out.h"
#include "analyzer/report.h"

struct sp_view_options {
	uint32_t limit;	  /* most rows; UINT32_MAX: all */
	const char *sort; /* key of a column, NULL: the view's own order */
	bool symbols;	  /* functions on stacks get names, from files that the trace names */
	bool thin;	  /* steps: of too many rows, the extremes all along the run */
	/* SP_NEEDS_RUNS: a report for each RUN, the first of them the view's own; their paths. */
	const struct sp_report *runs;
	const char *const *run_names;
	uint32_t run_count;
	double slower_limit; /* --fail-if-slower, as a share; below 0: not given */
};

#define SP_RUNS_MAX 8u

/* Exit statuses of the command line, beside 0. */
enum sp_exit {
	SP_EXIT_FAILED = 1, /* could not be done */
	SP_EXIT_USAGE = 2,  /* the command line makes no sense */
	SP_EXIT_SLOWER = 3, /* --fail-if-slower: a run is */
};

enum sp_view_needs {
	SP_NEEDS_NAMES = 1 << 0, /* names of files */
	SP_NEEDS_FILES = 1 << 1, /* and sums for each */
	SP_NEEDS_LIMIT = 1 << 2, /* may have more rows than anybody reads on a terminal */
	SP_NEEDS_STEPS = 1 << 3, /* of training threads */
	SP_NEEDS_RANGES = 1 << 4,
	SP_NEEDS_WORKERS = 1 << 7, /* and steps */
	SP_NEEDS_MODULES = 1 << 5,
	SP_NEEDS_OPS = 1 << 6,
	SP_NEEDS_RANKS = 1 << 9, /* and steps */
	SP_NEEDS_END = 1 << 10,	 /* makes little sense of a run that goes on: not for --follow */
	SP_NEEDS_RUNS = 1 << 8, /* each RUN by itself */
	SP_NEEDS_SYMBOLS = 1 << 12, /* where they are asked for: has native stacks */
	SP_IS_DOCUMENT = 1 << 11, /* a file in a format of its own: no --format, not for a terminal */
};

struct sp_view {
	const char *name, *help;
	unsigned needs; /* enum sp_view_needs */
	/*
	 * Returns 0, -ENOMEM, or -EINVAL where the view has no such column to sort by; compare also
	 * enum sp_exit: what was asked of it, beside showing.
	 */
	int (*show)(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options);
};

extern const struct sp_view sp_views[];
extern const unsigned sp_view_count;

/* NULL where there is none of this name. */
const struct sp_view *sp_view_find(const char *name);

#define SP_VIEW(name, needs, help)                                                                 \
	int sp_view_##name(const struct sp_report *report, struct sp_out *out,                     \
			   const struct sp_view_options *options);
#include "analyzer/views.def"
#undef SP_VIEW

/* Tells of the rows that a limit left out. */
void sp_view_more(struct sp_out *out, uint32_t left_out);

/* The object "run" of every JSON document: facts about the whole selection. */
void sp_run_json(const struct sp_report *report, struct sp_out *out);

struct sp_evidence;

/* The strongest what-if as a line; in JSON all of them. */
int sp_what_if_show(const struct sp_evidence *evidence, struct sp_out *out);

/* What holds training back, its evidence and advice. The report has its steps and workers. */
int sp_verdict_show(const struct sp_report *report, struct sp_out *out);

/* How busy the GPUs were, where CUPTI told of it. */
void sp_gpu_show(const struct sp_report *report, struct sp_out *out);

/* The facts that open the summary: hosts, counts, losses, what was not seen. */
void sp_run_show(const struct sp_report *report, struct sp_out *out);

/* The table of stages, which summary shares. */
int sp_stages_show(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options);

/* The steps in few words, and the account of their time, which open the summary. */
int sp_account_show(const struct sp_report *report, struct sp_out *out);

struct sp_sort_key {
	const char *name; /* of --sort */
	uint64_t (*value)(const void *context, uint32_t i);
};

/* The key of this name; the first where name is NULL; NULL where there is none. */
const struct sp_sort_key *sp_sort_find(const struct sp_sort_key *keys, size_t n, const char *name);
#define SP_SORT_FIND(keys, name) sp_sort_find(keys, sizeof(keys) / sizeof((keys)[0]), name)

/*
 * Orders the numbers 0 to n - 1 by value(context, i), greatest first, equal ones by number. Returns a list to
 * free(), or NULL where memory is out.
 */
uint32_t *sp_order_by(uint32_t n, uint64_t (*value)(const void *context, uint32_t i),
		      const void *context);

/* The rows of a view's table. */
struct sp_view_rows {
	const char *name; /* the table's */
	const struct sp_column *columns;
	unsigned cells;
	uint32_t count;
	uint64_t (*value)(const void *context, uint32_t i); /* greatest first */
	bool (*is_shown)(const void *context, uint32_t i);  /* NULL: all are */
	int (*show)(const void *context, struct sp_out *out, uint32_t i);
	const void *context;
};

/*
 * The first `limit` rows, and a line that tells how many more there are. Returns 0, -ENOMEM, or what show()
 * returned.
 */
int sp_view_rows_show(const struct sp_view_rows *rows, struct sp_out *out, uint32_t limit);

#endif
