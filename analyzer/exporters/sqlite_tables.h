/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes rows into tables of a SQLite database. Only this file and export_sqlite.c know SQLite.
 */
#ifndef STAGEPROF_ANALYZER_SQLITE_TABLES_H
#define STAGEPROF_ANALYZER_SQLITE_TABLES_H

#include <sqlite3.h>

#include "analyzer/print/out.h"

struct sp_sqlite_tables {
	sqlite3 *db;
	sqlite3_stmt *insert; /* of the table that is open */
	const struct sp_column *columns;
	size_t column_count;
	const char *view; /* whose tables come */
	bool has_main;	  /* it has given its main one */
	struct sp_rows rows;
};

/* Prepares store->rows, for sp_out.rows. */
void sp_sqlite_tables_init(struct sp_sqlite_tables *store, sqlite3 *db);

/* Tables of this view come next: "report_VIEW" is the main one,
 * "report_VIEW_KEY" are the others. */
void sp_sqlite_tables_view(struct sp_sqlite_tables *store, const char *view);

/* Closes the last table. */
void sp_sqlite_tables_end(struct sp_sqlite_tables *store);

/* Runs statements. Returns 0 or -errno. */
int sp_sql(sqlite3 *db, const char *sql);

/* The result as -errno; 0 where it is not an error. */
int sp_sql_errno(int result);

/* Any bytes, as UTF-8 that shows what it is (text.h). Number of the parameter: from 1. */
void sp_sql_text(sqlite3_stmt *insert, int parameter, const char *text, size_t bytes);

/* Inserts the row that is bound, and unbinds it. Returns 0 or -errno. */
int sp_sql_step(sqlite3_stmt *insert);

#endif
