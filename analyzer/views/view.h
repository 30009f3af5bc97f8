/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view shows one aspect of a report. To add one: a line in views.def and a file view_NAME.c that
 * defines sp_view_NAME().
 */
#ifndef STAGEPROF_ANALYZER_VIEW_H
#define STAGEPROF_ANALYZER_VIEW_H

#include "analyzer/base/order.h"
#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

#define SP_SORT_TITLES_BYTES 256u

/* The rows of `functions`. */
enum sp_function_rows {
	SP_ROWS_FUNCTION,
	SP_ROWS_LINE,
	SP_ROWS_MODULE,
	SP_ROWS_LIBRARY, /* whose machine code ran inside of the functions */
	SP_ROWS_CALLS,	 /* functions in fetches whose calls were counted */
};

struct sp_view_options {
	uint32_t limit;	   /* most rows; UINT32_MAX: all */
	char *sort_titles; /* of SP_SORT_TITLES_BYTES, to fill in; NULL: nobody asks */
	const char *sort;  /* key of a column, NULL: the view's own order */
	bool is_full;	   /* tables for people: with the rows that they leave out */
	bool symbols;	   /* functions on stacks get names, from files that the trace names */
	enum sp_function_rows function_rows; /* functions: a row each */
	unsigned phase;			     /* functions: enum sp_sample_phase plus 1; 0: all */
	bool thin; /* steps: of too many rows, the extremes all along the run */
	/* SP_NEEDS_RUNS: a report for each RUN, the first of them the view's own; their paths. */
	const struct sp_report *runs; /* summary, card: the second one is the run of --against */
	const char *const *run_names;
	uint32_t run_count;
	const char *against;	/* path of the second report of `runs`; NULL: there is none */
	double slower_limit;	/* --fail-if-slower, as a share; below 0: not given */
	uint64_t hung_limit_ns; /* --fail-if-hung; 0: not given */
	bool is_brief; /* summary: only the card and the account, which fit into 24 lines */
};

#define SP_RUNS_MAX 8u

/* Exit statuses of the command line, except 0. */
enum sp_exit {
	SP_EXIT_FAILED = 1, /* the report could not be made */
	SP_EXIT_USAGE = 2,  /* the command line is wrong */
	SP_EXIT_SLOWER = 3, /* --fail-if-slower: a run is slower */
	SP_EXIT_HUNG = 3,   /* --fail-if-hung: training stands still */
};

/* Beside enum sp_needs: the rest that a view asks for, or is. */
enum sp_view_needs {
	SP_NEEDS_NAMES = 1 << 16,   /* names of files */
	SP_NEEDS_LIMIT = 1 << 17,   /* may have very many rows, so a terminal gets 50 by default */
	SP_NEEDS_EVENTS = 1 << 18,  /* reads all events once more, and writes them as they come */
	SP_NEEDS_END = 1 << 19,	    /* not for a run that goes on (--follow) */
	SP_NEEDS_RUNS = 1 << 20,    /* each RUN by itself */
	SP_NEEDS_SYMBOLS = 1 << 21, /* takes --symbols */
	SP_TAKES_DIGESTS = 1 << 22, /* needs no events, so a digest will do (docs/DIGEST.md) */
	SP_HAS_VERDICT = 1 << 23,   /* without steps in the part asked for it has no answer */
	SP_IS_WHOLE = 1 << 24,	    /* of the whole run, so no selection of time or steps */
	SP_HAS_EPOCHS = 1 << 25,    /* but a selection of epochs */
	SP_IS_DETAIL = 1 << 26,	    /* --help has its name alone */
	SP_IS_DOCUMENT = 1 << 27,   /* a file in its own format: no --format, not for a terminal */
	SP_IS_FOLDER = 1 << 28,	    /* of exports: writes a folder of files */
};

struct sp_view {
	const char *name; /* of rows of another view: the name that they had as a view */
	const char *help; /* NULL: rows of another view */
	unsigned needs;	  /* enum sp_needs, enum sp_view_needs */
	/*
	 * Returns 0, -ENOMEM, or -EINVAL where the view has no such column to sort by. compare may
	 * also return an enum sp_exit.
	 */
	int (*show)(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options);
};

extern const struct sp_view sp_views[];
extern const unsigned sp_view_count;

/* NULL where there is none of this name. */
const struct sp_view *sp_view_find(const char *name);

/* The view, or other rows of it, that --by=word of this view asks for; NULL: there is none.
 * ret_value: that of SP_BY, else 0. */
const struct sp_view *sp_view_by(const struct sp_view *view, const char *word, int *ret_value);

/* Writes the words of --by that this view takes: "path, extension". */
void sp_view_by_words(const struct sp_view *view, char *ret, size_t bytes);

typedef int sp_view_show(const struct sp_report *report, struct sp_out *out,
			 const struct sp_view_options *options);
#define SP_VIEW(name, needs, help) sp_view_show sp_view_##name;
#define SP_VIEW_BY(name, view, word, needs) sp_view_show sp_view_##name;
#include "analyzer/views/views.def"

/* Writes the number of rows that a limit left out. */
void sp_view_more(struct sp_out *out, uint32_t left_out);

/* A column that --sort takes, by any of three names or the unique beginning of one. */
struct sp_sort_key {
	const char *name;
	const char *json;  /* the column's key in JSON and CSV */
	const char *title; /* in the table, marked by N_() */
	uint64_t (*value)(const void *context, uint32_t i);
};

/*
 * The key that options->sort names; the first where it names none. NULL where there is no such key;
 * options->sort_titles then has the titles of all.
 */
const struct sp_sort_key *sp_sort_find(const struct sp_sort_key *keys, size_t n,
				       const struct sp_view_options *options);
#define SP_SORT_FIND(keys, options) sp_sort_find(keys, sizeof(keys) / sizeof((keys)[0]), options)

#define SP_KEYS(list) .keys = (list), .key_count = sizeof(list) / sizeof((list)[0])

/* static uint64_t name(context, i): the value of `expression` of row i of `rows`, a `type`. */
#define SP_VALUE(name, type, expression)                                                           \
	static uint64_t name(const void *context, uint32_t i)                                      \
	{                                                                                          \
		const type *rows = context;                                                        \
                                                                                                   \
		(void)rows;                                                                        \
		return expression;                                                                 \
	}

/*
 * A table is a list, #define NAME_COLUMNS(X) X(key, title, type, cell) ...: SP_COLUMN makes its
 * columns, and SP_CELL the cells of a row from what is in scope there.
 */
#define SP_COLUMN(key, title, type, cell) {key, title, SP_CELL_##type},
#define SP_CELL(key, title, type, cell) cell,
#define SP_COLUMNS_OF(columns) (columns), sizeof(columns) / sizeof((columns)[0])

/* The rows of a view's table. */
struct sp_view_rows {
	const char *name; /* the table's */
	const struct sp_column *columns;
	unsigned cells;
	const struct sp_sort_key *keys; /* NULL: there is no --sort */
	size_t key_count;
	uint32_t count;
	uint64_t (*value)(const void *context, uint32_t i); /* greatest first */
	bool (*is_shown)(const void *context, uint32_t i);  /* NULL: all are */
	int (*show)(const void *context, struct sp_out *out, uint32_t i);
	const void *context;
	uint32_t shown; /* filled in: rows without a limit */
};

/*
 * Writes the first `limit` rows, and the number of the others. Returns 0, -ENOMEM, or the result of
 * show().
 */
int sp_view_rows_show(struct sp_view_rows *rows, struct sp_out *out, uint32_t limit);

/* The object "run", then the rows, ordered by the key of --sort where there are keys. Returns as
 * sp_view_rows_show() does, or -EINVAL, with nothing written, where there is no such key. */
int sp_view_sorted_show(struct sp_view_rows *rows, const struct sp_report *report,
			struct sp_out *out, const struct sp_view_options *options);

#endif
