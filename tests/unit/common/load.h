/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the analyzer's passes inside a test.
 */
#ifndef STAGEPROF_TESTS_LOAD_H
#define STAGEPROF_TESTS_LOAD_H

#include "analyzer/report/report.h"
#include "analyzer/views/view.h"

/* A directory of this test's own, removed by sp_folder_remove(). */
void sp_folder_make(char ret[64]);
void sp_folder_remove(const char *folder);

struct sp_load {
	struct sp_report report;
	unsigned complaints; /* lines about files */
	char last_complaint[4096];
};

/* paths: NULL-terminated. Fails the test where memory is out. selection: NULL for all. */
void sp_load(struct sp_load *load, const char *const *paths, unsigned jobs,
	     const struct sp_selection *selection);
void sp_load_one(struct sp_load *load, const char *path);
void sp_load_finish(struct sp_load *load);

/* The output of a view; the caller frees it. */
char *sp_load_print(const struct sp_load *load, const char *view, enum sp_format format);
char *sp_load_print_with(const struct sp_load *load, const char *view, enum sp_format format,
			 const struct sp_view_options *options);

#endif
