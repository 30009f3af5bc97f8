/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/parquet_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/text/text.h"

static int make_folder(char path[PATH_MAX])
{
	return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

/* folder: "" or "/rank=N". */
static int open_file(struct sp_parquet_folder *f, const char *folder,
		     const struct sp_parquet_column *columns, uint32_t n)
{
	char path[PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s%s", f->path, f->table, folder), r;

	if (bytes >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = make_folder(path);
	if (r < 0)
		return r;
	if (bytes + snprintf(path + bytes, sizeof(path) - (size_t)bytes, "/%s.parquet", f->table) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	return sp_parquet_open(&f->file, path, columns, n, f->creator);
}

/* A divided table in one file: with a column `rank`, which is null. */
static int open_undivided(struct sp_parquet_folder *f)
{
	if (f->column_count >= SP_PARQUET_COLUMNS_MAX)
		return -E2BIG;
	memcpy(f->undivided, f->columns, f->column_count * sizeof(*f->columns));
	f->undivided[f->column_count] = (struct sp_parquet_column){"rank", SP_PARQUET_INT64};
	return open_file(f, "", f->undivided, f->column_count + 1);
}

int sp_parquet_folder_end(struct sp_parquet_folder *f)
{
	/* Without a row no file was opened. A query of the table has to find its columns. */
	int r = f->table && !f->file && !f->failed ? open_undivided(f) : 0;
	int closed = sp_parquet_close(f->file);

	f->file = NULL;
	f->table = NULL;
	return r ? r : closed;
}

int sp_parquet_table(struct sp_parquet_folder *f, const char *table,
		     const struct sp_parquet_column *columns, uint32_t n)
{
	char path[PATH_MAX];
	int r = sp_parquet_folder_end(f);

	f->table = table;
	f->columns = columns;
	f->column_count = n;
	if (r < 0)
		return r;
	if (snprintf(path, sizeof(path), "%s/%s", f->path, table) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return make_folder(path);
}

int sp_parquet_partition(struct sp_parquet_folder *f, uint64_t rank)
{
	char folder[64] = "/rank=__HIVE_DEFAULT_PARTITION__"; /* null, for all that read Hive's */
	int r;

	if (f->file && f->rank == rank)
		return 0;
	r = sp_parquet_close(f->file);
	f->file = NULL;
	f->rank = rank;
	if (rank)
		snprintf(folder, sizeof(folder), "/rank=%llu", (unsigned long long)rank - 1);
	if (r == 0)
		r = f->has_ranks ? open_file(f, folder, f->columns, f->column_count)
				 : open_undivided(f);
	f->failed |= r < 0;
	return r;
}

int sp_parquet_whole(struct sp_parquet_folder *f)
{
	int r = open_file(f, "", f->columns, f->column_count);

	f->failed |= r < 0;
	return r;
}

void sp_parquet_bytes(struct sp_parquet_folder *f, uint32_t column, const char *text, size_t bytes)
{
	char safe[SP_PARQUET_TEXT_BYTES];

	sp_text_escape(safe, sizeof(safe), text, bytes);
	sp_parquet_text(f->file, column, safe);
}

void sp_parquet_count(struct sp_parquet_folder *f, uint32_t column, uint64_t n)
{
	sp_parquet_int(f->file, column, n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

static enum sp_parquet_type type_of(enum sp_cell_type type)
{
	return sp_cell_is_text(type)   ? SP_PARQUET_TEXT
	       : type == SP_CELL_SHARE ? SP_PARQUET_DOUBLE
				       : SP_PARQUET_INT64;
}

static int take_table(void *context, const char *key, const struct sp_column *columns, size_t n,
		      bool is_main)
{
	struct sp_parquet_folder *f = context;
	uint32_t used = 0;
	int r = sp_parquet_folder_end(f); /* the file before may have f->definitions */

	f->takes_rows = is_main;
	f->view_columns = columns;
	f->view_column_count = n;
	if (r < 0 || !is_main)
		return r;
	for (size_t i = 0; i < n && used < SP_PARQUET_COLUMNS_MAX; i++)
		if (columns[i].key)
			f->definitions[used++] =
				(struct sp_parquet_column){columns[i].key,
							   type_of(columns[i].type)};
	r = sp_parquet_table(f, key, f->definitions, used);
	return r < 0 ? r : sp_parquet_whole(f);
}

static void put_cell(struct sp_parquet_folder *f, uint32_t at, enum sp_cell_type type,
		     const struct sp_cell *cell)
{
	if (sp_cell_is_text(type))
		sp_parquet_bytes(f, at, cell->text, cell->bytes);
	else if (type == SP_CELL_SHARE)
		sp_parquet_double(f->file, at, cell->share);
	else if (type == SP_CELL_SIGNED || type == SP_CELL_AT_NS)
		sp_parquet_int(f->file, at, cell->value);
	else
		sp_parquet_count(f, at, cell->count);
}

static int take_row(void *context, const struct sp_cell *cells)
{
	struct sp_parquet_folder *f = context;
	uint32_t at = 0;

	if (!f->takes_rows)
		return 0;
	for (size_t i = 0; i < f->view_column_count && at < f->column_count; i++) {
		if (!f->view_columns[i].key)
			continue;
		if (!cells[i].is_null)
			put_cell(f, at, f->view_columns[i].type, &cells[i]);
		at++;
	}
	return sp_parquet_row(f->file);
}

void sp_parquet_folder_init(struct sp_parquet_folder *f, const char *path, const char *creator)
{
	*f = (struct sp_parquet_folder){.path = path, .creator = creator};
	f->rows = (struct sp_rows){take_table, take_row, f};
}
