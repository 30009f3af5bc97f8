/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of the command line, as sp_options_parse() fills them (command_line.h).
 */
#ifndef STAGEPROF_ANALYZER_OPTIONS_H
#define STAGEPROF_ANALYZER_OPTIONS_H

#include "analyzer/cli/run_find.h"
#include "analyzer/exporters/export.h"
#include "analyzer/print/out.h"
#include "analyzer/report/report.h"
#include "analyzer/views/view.h"

struct sp_options {
	const struct sp_view *view;	    /* NULL where there is an exporter */
	const struct sp_exporter *exporter; /* NULL where there is a view */
	unsigned needs;			    /* of either: enum sp_view_needs */
	struct sp_view_options rows;
	struct sp_selection selection;
	struct sp_step_selection steps;
	struct sp_wait_thresholds wait_thresholds;
	bool asks_language; /* --lang */
	enum sp_language language;
	bool asks_workers; /* --workers */
	uint32_t workers_asked;
	enum sp_format format;
	enum sp_file_naming by;
	const char *by_word; /* --by, borrowed from argv; NULL: not given */
	unsigned width, jobs;
	const char *table;   /* NULL: the main one */
	bool width_is_asked; /* by a terminal or an option */
	bool color, verbose, quiet;
	const char *against; /* NULL: no earlier run */
	const char *output;  /* -o, borrowed from argv; NULL: stdout */
	int color_when;	     /* 0 auto, 1 always, 2 never; color is what follows */
	bool is_export;	     /* the first word was "export" */
	bool is_digest;	     /* the first word was "digest": runs become a digest */
	bool force;	     /* output may replace a file */
	bool follows;
	uint64_t interval_ns;		/* between two reports that follow a run */
	bool explains;			/* a run is read only where there are paths */
	const char *explained;		/* a code; NULL: all of them */
	char newest[SP_RUN_NAME_BYTES]; /* the run that no argument named; empty: one did */
	char **paths; /* owned; each borrowed from argv or `newest`; NULL-terminated */
};

#endif
