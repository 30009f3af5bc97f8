/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/whole.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "analyzer/reader/index_read.h"
#include "analyzer/report/input_warnings.h"
#include "analyzer/exporters/export.h"
#include "analyzer/report/report.h"
#include "analyzer/views/view.h"

#ifndef SP_FUZZ_SOME
#define SP_FUZZ_SOME 0
#endif

enum { FORMATS = SP_FORMAT_MD + 1 }; /* those of --format; the page is a view */

static void ignore(const char *line)
{
	(void)line;
}

static FILE *open_nowhere(void)
{
	FILE *file = fopen("/dev/null", "w");

	if (!file)
		abort();
	return file;
}

static void show(const struct sp_report *report, unsigned view, enum sp_format format)
{
	static const char *const names[] = {"a", "b"};
	const struct sp_report runs[] = {*report, *report};
	const struct sp_view_options options = {.limit = 1000,
						.runs = runs,
						.run_names = names,
						.run_count = 2,
						.slower_limit = -1};
	struct sp_out out = {.format = format, .width = 80, .file = open_nowhere()};

	sp_out_begin(&out);
	sp_views[view].show(report, &out, &options);
	sp_out_end(&out);
	fclose(out.file);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void export(struct sp_report *report, const struct sp_exporter *exporter)
{
	char folder[] = "/tmp/fuzz-XXXXXX";
	bool is_folder = exporter->needs & SP_IS_FOLDER;
	struct sp_progress progress;
	struct sp_export export = {.report = report,
				   .file = open_nowhere(),
				   .progress = &progress,
				   .version = "fuzz"};

	if (is_folder)
		export.path = mkdtemp(folder);
	if (is_folder && !export.path)
		abort();
	sp_progress_begin(&progress, NULL, report->totals.events);
	exporter->write(&export);
	sp_progress_end(&progress);
	fclose(export.file);
	if (is_folder)
		nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* As the command line has it: the others say that they need events. */
static bool takes(unsigned needs, const struct sp_report *report)
{
	return (needs & SP_TAKES_DIGESTS) || !sp_index_has_digested(&report->run.index);
}

/* A fuzzer wants many inputs: it shows each in a few ways, chosen by its bytes; a replay shows it
 * in all. */
static void show_all(struct sp_report *report, uint64_t choice)
{
	unsigned ways = sp_view_count * FORMATS, step = SP_FUZZ_SOME ? ways / 5 : 1;

	for (unsigned i = SP_FUZZ_SOME ? choice % step : 0; i < ways; i += step)
		if (takes(sp_views[i / FORMATS].needs, report))
			show(report, i / FORMATS, (enum sp_format)(i % FORMATS));
	for (unsigned i = 0; i < sp_exporter_count; i++)
		if (takes(sp_exporters[i].needs, report) &&
		    (!SP_FUZZ_SOME || (choice >> 32) % (8 * sp_exporter_count) == i))
			export(report, &sp_exporters[i]);
}

void sp_fuzz_whole(const uint8_t *trace, size_t bytes)
{
	struct sp_report report = {
		.run.selection = {0, 0, INT64_MIN, INT64_MAX},
		.run.jobs = 1,
		.run.naming = SP_NAMING_PATH,
		.needs = SP_NEEDS_RESULTS,
		.wait_thresholds = {SP_WAIT_MODERATE, SP_WAIT_SEVERE},
		.run.names_max = 100,
	};
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, trace, bytes) != (ssize_t)bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sp_index_add(&report.run.index, path) || sp_report_scan(&report))
		abort();
	if (sp_index_has_digested(&report.run.index))
		report.needs &= SP_NEEDS_OF_DIGESTS;
	if (sp_report_read(&report) || sp_input_warnings(&report, 10, ignore))
		abort();
	if (sp_run_has_trace(&report.run))
		show_all(&report, XXH64(trace, bytes, 0));
	sp_report_finish(&report);
	close(fd);
}
