/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of Parquet in one folder: FOLDER/TABLE/TABLE.parquet, or, of a table that is divided by
 * rank, FOLDER/TABLE/rank=N/TABLE.parquet, as Hive, Spark, Dask and DuckDB read them. Where no
 * process has a rank, no table is divided, because some readers refuse a division into null alone:
 * the file has a column `rank` then, which is null. So has the file of a divided table without
 * rows.
 */
#ifndef STAGEPROF_ANALYZER_PARQUET_FOLDER_H
#define STAGEPROF_ANALYZER_PARQUET_FOLDER_H

#include <stdbool.h>

#include "analyzer/exporters/parquet.h"
#include "analyzer/print/out.h"

#define SP_PARQUET_COLUMNS_MAX 64u
#define SP_PARQUET_TEXT_BYTES 16384u /* of one value, escaped */

/* One table at a time is open. */
struct sp_parquet_folder {
	const char *path;    /* it exists */
	const char *creator; /* both borrowed */
	bool has_ranks;	     /* set by the caller: any process has one */
	bool failed;	     /* to open a file */
	const char *table;   /* the open one; NULL: none */
	const struct sp_parquet_column *columns;
	uint32_t column_count;
	struct sp_parquet *file;
	uint64_t rank; /* of the file, as in the header: plus 1, 0: not known */
	struct sp_parquet_column undivided[SP_PARQUET_COLUMNS_MAX];

	/* Receives the main table of a view as a table of its own. */
	struct sp_rows rows;
	const struct sp_column *view_columns;
	size_t view_column_count;
	bool takes_rows;
	struct sp_parquet_column definitions[SP_PARQUET_COLUMNS_MAX];
};

/* `f` must not move in memory from then on. */
void sp_parquet_folder_init(struct sp_parquet_folder *f, const char *path, const char *creator);

/* Ends the table before, and begins one. Its columns and their names are borrowed until it ends.
 * Returns 0 or -errno. */
int sp_parquet_table(struct sp_parquet_folder *f, const char *table,
		     const struct sp_parquet_column *columns, uint32_t n);

/* The file for the next rows of a divided table. Rows of one rank follow each other. Returns 0 or
 * -errno. */
int sp_parquet_partition(struct sp_parquet_folder *f, uint64_t rank);

/* The file of a table that is not divided. Returns 0 or -errno. */
int sp_parquet_whole(struct sp_parquet_folder *f);

/* A value of any bytes, made safe to print. */
void sp_parquet_bytes(struct sp_parquet_folder *f, uint32_t column, const char *text, size_t bytes);

/* A number above INT64_MAX becomes INT64_MAX. */
void sp_parquet_count(struct sp_parquet_folder *f, uint32_t column, uint64_t n);

/* Ends the last table. Returns 0 or -errno. */
int sp_parquet_folder_end(struct sp_parquet_folder *f);

#endif
