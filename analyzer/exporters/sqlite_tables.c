/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/sqlite_tables.h"

#include <errno.h>
#include <string.h>

#include "analyzer/text/text.h"

#define TEXT_BYTES (16u * 1024u)
#define SQL_BYTES 8192u

int sp_sql_errno(int result)
{
	switch (result & 0xFF) { /* sqlite3.h: the low byte is the primary code */
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	default:
		return -EIO;
	}
}

int sp_sql(sqlite3 *db, const char *sql)
{
	return sp_sql_errno(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

void sp_sql_text(sqlite3_stmt *insert, int parameter, const char *text, size_t bytes)
{
	char safe[TEXT_BYTES];

	sp_text_escape(safe, sizeof(safe), text, bytes);
	sqlite3_bind_text(insert, parameter, safe, -1, SQLITE_TRANSIENT);
}

int sp_sql_step(sqlite3_stmt *insert)
{
	int r = sp_sql_errno(sqlite3_step(insert));

	sqlite3_reset(insert);
	sqlite3_clear_bindings(insert);
	return r;
}

static const char *type_of(enum sp_cell_type type)
{
	return sp_cell_is_text(type) ? "TEXT" : type == SP_CELL_SHARE ? "REAL" : "INTEGER";
}

static void append(char *sql, const char *text)
{
	strncat(sql, text, SQL_BYTES - 1 - strlen(sql));
}

/* Names are keys of columns and tables, never strings of a trace. */
static int create(struct sp_sqlite_tables *store, const char *name)
{
	char sql[SQL_BYTES] = "", values[SQL_BYTES / 4] = "";
	const char *comma = "";
	int r;

	snprintf(sql, sizeof(sql), "CREATE TABLE IF NOT EXISTS \"%s\" (", name);
	for (size_t i = 0; i < store->column_count; i++) {
		if (!store->columns[i].key)
			continue;
		append(sql, comma);
		append(sql, "\"");
		append(sql, store->columns[i].key);
		append(sql, "\" ");
		append(sql, type_of(store->columns[i].type));
		strncat(values, *comma ? ", ?" : "?", sizeof(values) - 1 - strlen(values));
		comma = ", ";
	}
	append(sql, ")");
	r = sp_sql(store->db, sql);
	if (r < 0)
		return r;
	snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" VALUES (%s)", name, values);
	return sp_sql_errno(sqlite3_prepare_v2(store->db, sql, -1, &store->insert, NULL));
}

static int take_table(void *context, const char *key, const struct sp_column *columns, size_t n,
		      bool is_main)
{
	struct sp_sqlite_tables *store = context;
	char name[256];

	sp_sqlite_tables_end(store);
	store->columns = columns;
	store->column_count = n;
	if (is_main && !store->has_main)
		snprintf(name, sizeof(name), "report_%s", store->view);
	else
		snprintf(name, sizeof(name), "report_%s_%s", store->view, key);
	store->has_main |= is_main;
	return create(store, name);
}

static void bind(sqlite3_stmt *insert, int at, enum sp_cell_type type, const struct sp_cell *cell)
{
	switch (type) {
	case SP_CELL_TEXT:
	case SP_CELL_WORD:
	case SP_CELL_CHAIN:
	case SP_CELL_LIST:
		sp_sql_text(insert, at, cell->text, cell->bytes);
		break;
	case SP_CELL_SHARE:
		sqlite3_bind_double(insert, at, cell->share);
		break;
	case SP_CELL_SIGNED:
	case SP_CELL_AT_NS:
		sqlite3_bind_int64(insert, at, cell->value);
		break;
	default:
		sqlite3_bind_int64(insert, at, (sqlite3_int64)cell->count);
		break;
	}
}

static int take_row(void *context, const struct sp_cell *cells)
{
	struct sp_sqlite_tables *store = context;
	int at = 1;

	for (size_t i = 0; i < store->column_count; i++) {
		if (!store->columns[i].key)
			continue;
		if (!cells[i].is_null)
			bind(store->insert, at, store->columns[i].type, &cells[i]);
		at++;
	}
	return sp_sql_step(store->insert);
}

void sp_sqlite_tables_init(struct sp_sqlite_tables *store, sqlite3 *db)
{
	*store = (struct sp_sqlite_tables){.db = db};
	store->rows = (struct sp_rows){take_table, take_row, store};
}

void sp_sqlite_tables_view(struct sp_sqlite_tables *store, const char *view)
{
	sp_sqlite_tables_end(store);
	store->view = view;
	store->has_main = false;
}

void sp_sqlite_tables_end(struct sp_sqlite_tables *store)
{
	sqlite3_finalize(store->insert);
	store->insert = NULL;
}
