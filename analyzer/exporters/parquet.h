/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of flat Parquet files: https://parquet.apache.org/docs/file-format/
 *
 * Each column is optional, its values are PLAIN in one page a row group, compressed by zstd where
 * that saves a byte. Memory grows with one row group and with the number of row groups.
 */
#ifndef STAGEPROF_ANALYZER_PARQUET_H
#define STAGEPROF_ANALYZER_PARQUET_H

#include <stddef.h>
#include <stdint.h>

enum sp_parquet_type { SP_PARQUET_INT64, SP_PARQUET_DOUBLE, SP_PARQUET_TEXT };

struct sp_parquet_column {
	const char *name; /* unique in its file */
	enum sp_parquet_type type;
};

struct sp_parquet;

/* Creates the file, which must not exist. The columns are borrowed until it is closed. Returns 0 or
 * -errno. */
int sp_parquet_open(struct sp_parquet **ret, const char *path,
		    const struct sp_parquet_column *columns, uint32_t n, const char *creator);

/* The next row's value of a column; a column without one is null in this row. */
void sp_parquet_int(struct sp_parquet *p, uint32_t column, int64_t value);
void sp_parquet_double(struct sp_parquet *p, uint32_t column, double value);
/* UTF-8, as sp_text_escape() makes it. */
void sp_parquet_text(struct sp_parquet *p, uint32_t column, const char *text);

/* Ends the row. Returns 0 or -errno. */
int sp_parquet_row(struct sp_parquet *p);

/* Ends and frees the file; NULL is allowed. Returns 0 or -errno, also of an earlier failure. */
int sp_parquet_close(struct sp_parquet *p);

#endif
