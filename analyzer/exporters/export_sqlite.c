/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database of the run: tables of recorded data, and the report's views. The schema is a contract:
 * docs/EXPORTS.md.
 *
 * SQLite opens files by name: it writes the output file by its name, or, where that has none, an
 * unnamed file that is copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/exporters/export.h"
#include "analyzer/exporters/sqlite_tables.h"
#include "analyzer/views/run_json.h"
#include "analyzer/views/view.h"

#define COPY_BYTES 65536u

static const char schema[] =
	"CREATE TABLE host (id INTEGER PRIMARY KEY, name TEXT);"
	"CREATE TABLE process (id INTEGER PRIMARY KEY, host_id INTEGER REFERENCES host, pid "
	"INTEGER,"
	" ppid INTEGER, exe TEXT, rank INTEGER);"
	"CREATE TABLE thread (id INTEGER PRIMARY KEY, process_id INTEGER REFERENCES process,"
	" tid INTEGER, name TEXT, start_ns INTEGER, dur_ns INTEGER, ended INTEGER, events_lost "
	"INTEGER);"
	"CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT);"
	"CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT);"
	"CREATE TABLE stage (id INTEGER PRIMARY KEY, name TEXT, title TEXT);"
	"CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT);"
	"CREATE TABLE event (id INTEGER PRIMARY KEY, thread_id INTEGER REFERENCES thread,"
	" kind_id INTEGER REFERENCES kind, stage_id INTEGER REFERENCES stage, start_ns INTEGER,"
	" dur_ns INTEGER, value INTEGER, file_id INTEGER REFERENCES file,"
	" label_id INTEGER REFERENCES label, width INTEGER, height INTEGER, inside_ns INTEGER,"
	" device INTEGER, gpu_stream INTEGER, correlation INTEGER, communicator INTEGER,"
	" host_memory TEXT);";

/* Created after the rows. */
static const char views[] = "CREATE VIEW dump AS SELECT e.start_ns, e.dur_ns, p.pid, t.tid, k.name "
			    "AS event,"
			    " s.name AS stage, e.value, e.inside_ns, e.width, e.height, f.path AS "
			    "file, l.text AS label,"
			    " e.communicator, e.host_memory"
			    " FROM event e JOIN thread t ON t.id = e.thread_id JOIN process p ON "
			    "p.id = t.process_id"
			    " JOIN kind k ON k.id = e.kind_id JOIN stage s ON s.id = e.stage_id"
			    " LEFT JOIN file f ON f.id = e.file_id LEFT JOIN label l ON l.id = "
			    "e.label_id ORDER BY e.id;"
			    "CREATE VIEW summary AS SELECT key, value FROM run;";

struct store {
	struct sp_export *export;
	sqlite3 *db;
	sqlite3_stmt *event;
};

static int prepare(struct store *s, const char *sql, sqlite3_stmt **ret)
{
	return sp_sql_errno(sqlite3_prepare_v2(s->db, sql, -1, ret, NULL));
}

static void bind_known(sqlite3_stmt *insert, int at, uint64_t value, bool is_known)
{
	if (is_known)
		sqlite3_bind_int64(insert, at, (sqlite3_int64)value);
}

static int put_hosts(struct store *s, sqlite3_stmt *insert)
{
	const struct sp_index *index = &s->export->report->run.index;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < index->host_count; i++) {
		const char *name = index->hosts[i].name;

		sqlite3_bind_int64(insert, 1, i + 1);
		sp_sql_text(insert, 2, name, strnlen(name, sizeof(index->hosts[i].name)));
		r = sp_sql_step(insert);
	}
	return r;
}

static int put_processes(struct store *s, sqlite3_stmt *insert)
{
	const struct sp_index *index = &s->export->report->run.index;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < index->image_count; i++) {
		const struct sp_process_image *image = &index->images[i];

		sqlite3_bind_int64(insert, 1, i + 1);
		sqlite3_bind_int64(insert, 2, image->host + 1);
		sqlite3_bind_int64(insert, 3, image->pid);
		sqlite3_bind_int64(insert, 4, image->ppid);
		sp_sql_text(insert, 5, image->exe, strnlen(image->exe, sizeof(image->exe)));
		bind_known(insert, 6, image->rank - 1, image->rank != 0);
		r = sp_sql_step(insert);
	}
	return r;
}

static int put_threads(struct store *s, sqlite3_stmt *insert)
{
	const struct sp_report *report = s->export->report;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < report->run.index.stream_count; i++) {
		const struct sp_stream *stream = report->run.index.streams[i];
		const char *name = sp_run_thread_name(&report->run, i);
		int64_t begin, end;

		if (!sp_run_selects(&report->run, i))
			continue;
		sp_stream_life(&report->run, &report->totals, i, &begin, &end);
		sqlite3_bind_int64(insert, 1, i + 1);
		sqlite3_bind_int64(insert, 2, stream->image + 1);
		sqlite3_bind_int64(insert, 3, stream->tid);
		sp_sql_text(insert, 4, name, strlen(name));
		sqlite3_bind_int64(insert, 5, begin - report->run.begin_ns);
		sqlite3_bind_int64(insert, 6, end - begin);
		sqlite3_bind_int64(insert, 7, stream->has_last);
		sqlite3_bind_int64(insert, 8, (sqlite3_int64)stream->lost);
		r = sp_sql_step(insert);
	}
	return r;
}

static int put_names(const struct sp_string_table *names, bool are_labels, sqlite3_stmt *insert)
{
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < names->count; i++) {
		size_t bytes;
		const char *text = sp_string_table_text(names, i, &bytes);

		char room[SP_LABEL_ROOM];

		if (are_labels)
			text = sp_label_spaced(room, text, &bytes);
		sqlite3_bind_int64(insert, 1, i);
		sp_sql_text(insert, 2, text, bytes);
		r = sp_sql_step(insert);
	}
	return r;
}

static int put_files(struct store *s, sqlite3_stmt *insert)
{
	return put_names(&s->export->report->run.metadata.files, false, insert);
}

static int put_labels(struct store *s, sqlite3_stmt *insert)
{
	return put_names(&s->export->report->run.metadata.labels, true, insert);
}

static int put_stages(struct store *s, sqlite3_stmt *insert)
{
	int r = 0;

	(void)s;
	for (int i = 0; r == 0 && i < SP_STAGES; i++) {
		sqlite3_bind_int64(insert, 1, i + 1);
		sqlite3_bind_text(insert, 2, sp_stage_name((enum sp_stage)i), -1, SQLITE_STATIC);
		sqlite3_bind_text(insert, 3, sp_stage_title((enum sp_stage)i), -1, SQLITE_STATIC);
		r = sp_sql_step(insert);
	}
	return r;
}

static int put_kinds(struct store *s, sqlite3_stmt *insert)
{
	int r = 0;

	(void)s;
	for (uint32_t i = 0; r == 0 && i < SP_EVENT_KINDS; i++) {
		if (!sp_event_info(i)->name)
			continue;
		sqlite3_bind_int64(insert, 1, i);
		sqlite3_bind_text(insert, 2, sp_event_info(i)->name, -1, SQLITE_STATIC);
		r = sp_sql_step(insert);
	}
	return r;
}

static const struct {
	const char *sql;
	int (*put)(struct store *s, sqlite3_stmt *insert);
} tables[] = {
	{"INSERT INTO host VALUES (?, ?)", put_hosts},
	{"INSERT INTO process VALUES (?, ?, ?, ?, ?, ?)", put_processes},
	{"INSERT INTO thread VALUES (?, ?, ?, ?, ?, ?, ?, ?)", put_threads},
	{"INSERT INTO file VALUES (?, ?)", put_files},
	{"INSERT INTO label VALUES (?, ?)", put_labels},
	{"INSERT INTO stage VALUES (?, ?, ?)", put_stages},
	{"INSERT INTO kind VALUES (?, ?)", put_kinds},
};

static int put_tables(struct store *s)
{
	int r = sp_sql(s->db, schema);

	for (size_t i = 0; r == 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
		sqlite3_stmt *insert = NULL;

		r = prepare(s, tables[i].sql, &insert);
		if (r == 0)
			r = tables[i].put(s, insert);
		sqlite3_finalize(insert);
	}
	return r;
}

/* A kind that this version does not know gets its number as a name. */
static int put_unknown_kind(struct store *s, const struct sp_record *record)
{
	char sql[128], room[SP_RECORD_KIND_BYTES];

	if (sp_event_info(record->kind)->name)
		return 0;
	snprintf(sql, sizeof(sql), "INSERT OR IGNORE INTO kind VALUES (%u, '%s')", record->kind,
		 sp_record_kind(record, room));
	return sp_sql(s->db, sql);
}

static int put_event(void *context, const struct sp_record *record)
{
	struct store *s = context;
	sqlite3_stmt *e = s->event;
	int r = put_unknown_kind(s, record);

	sqlite3_bind_int64(e, 1, record->stream + 1);
	sqlite3_bind_int64(e, 2, record->kind);
	sqlite3_bind_int64(e, 3, record->stage + 1);
	sqlite3_bind_int64(e, 4, record->start_ns - s->export->report->run.begin_ns);
	sqlite3_bind_int64(e, 5, (sqlite3_int64)record->dur_ns);
	bind_known(e, 6, (uint64_t)record->value, record->value != SP_VALUE_ABANDONED);
	bind_known(e, 7, record->file, record->file != SP_STRINGS_REST);
	bind_known(e, 8, record->label, record->label != SP_STRINGS_REST);
	bind_known(e, 9, record->width, record->has_image);
	bind_known(e, 10, record->height, record->has_image);
	bind_known(e, 11, record->inside_ns, record->has_image);
	bind_known(e, 12, record->device, record->is_gpu);
	bind_known(e, 13, record->gpu_stream, record->is_gpu);
	bind_known(e, 14, record->correlation, record->correlation != 0);
	bind_known(e, 15, record->arg, sp_record_has_communicator(record));
	sqlite3_bind_text(e, 16, sp_record_host_memory(record), -1, SQLITE_STATIC); /* or NULL */
	return r == 0 ? sp_sql_step(e) : r;
}

static int put_events(struct store *s)
{
	int r = prepare(s,
			"INSERT INTO event (thread_id, kind_id, stage_id, start_ns, dur_ns, value, "
			"file_id,"
			" label_id, width, height, inside_ns, device, gpu_stream, correlation, "
			"communicator, host_memory)"
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			&s->event);

	if (r == 0)
		r = sp_export_records(s->export, put_event, s);
	sqlite3_finalize(s->event);
	return r;
}

/* The object "run" of JSON, a row a value. */
static int put_run(struct store *s)
{
	struct sp_out out = {.format = SP_FORMAT_JSON};
	sqlite3_stmt *insert = NULL;
	char *text = NULL;
	size_t bytes;
	int r;

	out.file = open_memstream(&text, &bytes);
	if (!out.file)
		return -ENOMEM;
	sp_out_begin(&out);
	sp_run_json(s->export->report, &out);
	sp_out_end(&out);
	fclose(out.file);
	r = sp_sql(s->db, "CREATE TABLE run (key TEXT, value)");
	if (r == 0)
		r = prepare(s,
			    "INSERT INTO run SELECT replace(substr(fullkey, 7), '\"', ''), atom "
			    "FROM json_tree(?, '$.run')"
			    " WHERE atom IS NOT NULL",
			    &insert);
	if (r == 0) {
		sqlite3_bind_text(insert, 1, text, (int)bytes, SQLITE_STATIC);
		r = sp_sql_step(insert);
	}
	sqlite3_finalize(insert);
	free(text);
	return r;
}

/* dump is a view of the events, the page is no table, and compare needs other runs. */
static bool is_stored(const struct sp_view *view)
{
	return view->show != sp_view_dump && view->show != sp_view_html &&
	       !(view->needs & SP_NEEDS_RUNS);
}

static int put_view(struct store *s, const struct sp_view *view, struct sp_sqlite_tables *store)
{
	struct sp_view_options all = {.limit = UINT32_MAX, .slower_limit = -1};
	struct sp_out out = {.file = s->export->file,
			     .format = SP_FORMAT_ROWS,
			     .rows = &store->rows};
	char sql[256];
	int r;

	sp_sqlite_tables_view(store, view->name);
	r = view->show(s->export->report, &out, &all);
	if (r != 0 || !store->has_main || view->show == sp_view_summary)
		return r;
	snprintf(sql, sizeof(sql), "CREATE VIEW \"%s\" AS SELECT * FROM \"report_%s\"", view->name,
		 view->name);
	return sp_sql(s->db, sql);
}

static int put_views(struct store *s)
{
	struct sp_sqlite_tables store;
	int r = 0;

	sp_sqlite_tables_init(&store, s->db);
	for (unsigned i = 0; r == 0 && i < sp_view_count; i++)
		if (is_stored(&sp_views[i]))
			r = put_view(s, &sp_views[i], &store);
	sp_sqlite_tables_end(&store);
	return r == 0 ? sp_sql(s->db, views) : r;
}

/* A failed export is removed, so it needs no journal. */
static int put_all(struct store *s)
{
	int r = sp_sql(s->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			      "PRAGMA application_id = 1937009778; PRAGMA user_version = 1; "
			      "BEGIN;");

	if (r == 0)
		r = put_tables(s);
	if (r == 0)
		r = put_events(s);
	if (r == 0)
		r = put_run(s);
	if (r == 0)
		r = put_views(s);
	return r == 0 ? sp_sql(s->db, "CREATE INDEX event_of_thread ON event (thread_id, start_ns);"
				      "COMMIT")
		      : r;
}

static int write_to(struct sp_export *export, const char *path)
{
	struct store s = {.export = export};
	int r = sp_sql_errno(sqlite3_open_v2(path, &s.db, SQLITE_OPEN_READWRITE, NULL));

	if (r == 0)
		r = put_all(&s);
	sqlite3_close(s.db);
	return r;
}

static int copy(int from, FILE *to)
{
	char bytes[COPY_BYTES];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from, bytes, sizeof(bytes), at)) > 0) {
		if (fwrite(bytes, 1, (size_t)n, to) != (size_t)n)
			return -EIO;
		at += n;
	}
	return n < 0 ? -errno : 0;
}

int sp_export_sqlite(struct sp_export *export)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd, r;

	if (export->path)
		return write_to(export, export->path);
	snprintf(path, sizeof(path), "%s/stageprof-XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	r = write_to(export, path);
	unlink(path);
	if (r == 0)
		r = copy(fd, export->file);
	close(fd);
	return r;
}
