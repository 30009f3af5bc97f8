/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass plan: no view and no exporter reads a thread more often than docs/ARCHITECTURE.md says,
 * and a view that is given only the results that it asks for shows the same as one that is given
 * all.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/exporters/export.h"
#include "analyzer/reader/index_read.h"
#include "analyzer/views/view.h"
#include "tests/unit/common/suite.h"

static const char *const runs[] = {
	SP_GOLDEN "/v2/gpu.zst",
	SP_GOLDEN "/v2/ranks.zst",
	SP_GOLDEN "/v2/run.zst",
};
#define RUNS (sizeof(runs) / sizeof(runs[0]))

static char *architecture;

static void read_architecture(void)
{
	size_t room = 1 << 20;
	FILE *file = fopen(SP_ARCHITECTURE, "r");

	ck_assert_ptr_nonnull(file);
	architecture = calloc(1, room);
	ck_assert_ptr_nonnull(architecture);
	ck_assert_uint_gt(fread(architecture, 1, room - 1, file), 0);
	fclose(file);
}

static void free_architecture(void)
{
	free(architecture);
}

/* "ranges --by=label" for the rows of `labels`. */
static const char *command_of(const struct sp_view *view)
{
	static const struct {
		const char *name, *command;
	} rows[] = {
#define SP_VIEW_BY(name, view, word, needs) {#name, #view " --by=" #word},
#include "analyzer/views/views.def"
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, view->name) == 0)
			return rows[i].command;
	return view->name;
}

/* The number in the row "NAME  NUMBER". */
static unsigned documented(const char *name)
{
	char row[128];
	const char *at;

	snprintf(row, sizeof(row), "\n%s  ", name);
	at = strstr(architecture, row);
	ck_assert_msg(at, "docs/ARCHITECTURE.md has no row of readings for %s", name);
	return (unsigned)strtoul(at + strlen(row), NULL, 10);
}

static void begin(struct sp_report *report, const char *path, unsigned needs)
{
	*report = (struct sp_report){
		.needs = needs & SP_NEEDS_RESULTS,
		.run.selection = {0, 0, INT64_MIN, INT64_MAX},
		.run.jobs = 2,
		.run.naming = SP_NAMING_PATH,
		.run.names_max = 1000,
		.training.selection = {.to = UINT32_MAX, .epoch = -1},
		.wait_thresholds = {SP_WAIT_MODERATE, SP_WAIT_SEVERE},
	};
	ck_assert_int_eq(sp_index_add(&report->run.index, path), 0);
	ck_assert_int_eq(sp_report_scan(report), 0);
	ck_assert_int_eq(sp_report_read(report), 0);
}

static unsigned readings(const struct sp_report *report)
{
	unsigned most = 0;

	for (uint32_t i = 0; i < report->run.index.stream_count; i++)
		if (report->run.index.streams[i]->readings > most)
			most = report->run.index.streams[i]->readings;
	return most;
}

static char *show(const struct sp_report *report, const struct sp_view *view)
{
	static const char *const names[] = {"a", "b"};
	const struct sp_report pair[] = {*report, *report};
	const struct sp_view_options options = {.limit = UINT32_MAX,
						.runs = pair,
						.run_names = names,
						.run_count = 2,
						.slower_limit = -1};
	struct sp_out out = {.format = view->needs & SP_IS_DOCUMENT ? SP_FORMAT_TABLE
								    : SP_FORMAT_JSON};
	char *text = NULL;
	size_t bytes = 0;

	out.file = open_memstream(&text, &bytes);
	ck_assert_ptr_nonnull(out.file);
	sp_out_begin(&out);
	ck_assert_int_ge(view->show(report, &out, &options), 0);
	ck_assert_int_eq(sp_out_end(&out), 0);
	fclose(out.file);
	ck_assert_uint_gt(bytes, 0);
	return text;
}

START_TEST(views_read_as_often_as_documented)
{
	const struct sp_view *view = &sp_views[_i];
	const char *command = command_of(view);
	unsigned most = 0;

	for (size_t i = 0; i < RUNS; i++) {
		struct sp_report report;

		begin(&report, runs[i], view->needs);
		free(show(&report, view));
		most = readings(&report) > most ? readings(&report) : most;
		sp_report_finish(&report);
	}
	ck_assert_msg(most == documented(command), "%s reads a thread %u times, documented: %u",
		      command, most, documented(command));
}
END_TEST

START_TEST(views_ask_for_all_that_they_show)
{
	const struct sp_view *view = &sp_views[_i];

	for (size_t i = 0; i < RUNS; i++) {
		struct sp_report few, all;
		char *shown, *whole;

		begin(&few, runs[i], view->needs);
		begin(&all, runs[i], SP_NEEDS_RESULTS);
		shown = show(&few, view);
		whole = show(&all, view);
		ck_assert_msg(strcmp(shown, whole) == 0,
			      "%s shows results that it does not ask for: %s\n%s\n%s", view->name,
			      runs[i], shown, whole);
		free(shown);
		free(whole);
		sp_report_finish(&few);
		sp_report_finish(&all);
	}
}
END_TEST

START_TEST(exporters_read_as_often_as_documented)
{
	const struct sp_exporter *exporter = &sp_exporters[_i];
	unsigned most = 0;
	char name[64], folder[] = "/tmp/readings-XXXXXX", path[64];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (size_t i = 0; i < RUNS; i++) {
		struct sp_report report;
		struct sp_progress progress;
		struct sp_export export = {
			.report = &report,
			.file = fopen("/dev/null", "w"),
			.progress = &progress,
			.version = "test",
		};

		snprintf(path, sizeof(path), "%s/%zu", folder, i);
		if (exporter->needs & SP_IS_FOLDER)
			export.path = path;
		ck_assert(!export.path || mkdir(path, 0777) == 0);
		ck_assert_ptr_nonnull(export.file);
		begin(&report, runs[i], exporter->needs);
		sp_progress_begin(&progress, NULL, report.totals.events);
		ck_assert_int_eq(exporter->write(&export), 0);
		sp_progress_end(&progress);
		fclose(export.file);
		most = readings(&report) > most ? readings(&report) : most;
		sp_report_finish(&report);
	}
	snprintf(name, sizeof(name), "rm -r %s", folder);
	ck_assert_int_eq(system(name), 0);
	snprintf(name, sizeof(name), "export %s", exporter->name);
	ck_assert_msg(most == documented(name), "%s reads a thread %u times, documented: %u", name,
		      most, documented(name));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("readings");
	TCase *c = tcase_create("readings");

	tcase_set_timeout(c, 300); /* under TSan, on a busy machine */
	tcase_add_checked_fixture(c, read_architecture, free_architecture);
	tcase_add_loop_test(c, views_read_as_often_as_documented, 0, (int)sp_view_count);
	tcase_add_loop_test(c, views_ask_for_all_that_they_show, 0, (int)sp_view_count);
	tcase_add_loop_test(c, exporters_read_as_often_as_documented, 0, (int)sp_exporter_count);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
