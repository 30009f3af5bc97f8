/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/load.h"

#include <check.h>
#include <ftw.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/reader/index_read.h"
#include "analyzer/report/input_warnings.h"

void sp_folder_make(char ret[64])
{
	/* Tens of thousands of little files: in memory where that is to be had. */
	strcpy(ret, access("/dev/shm", W_OK) == 0 ? "/dev/shm/stageprof-unit-XXXXXX"
						  : "/tmp/stageprof-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(ret));
	/* and tens of thousands of reports: let malloc keep their buffers */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void sp_folder_remove(const char *folder)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct sp_load *current;

static void count_complaint(const char *line)
{
	current->complaints++;
	snprintf(current->last_complaint, sizeof(current->last_complaint), "%s", line);
}

void sp_load(struct sp_load *load, const char *const *paths, unsigned jobs,
	     const struct sp_selection *selection)
{
	struct sp_report *r = &load->report;

	*load = (struct sp_load){.complaints = 0};
	r->run.jobs = jobs;
	r->run.names_max = 1000;
	r->run.naming = SP_NAMING_PATH;
	r->needs = SP_NEEDS_RESULTS;
	r->wait_thresholds = (struct sp_wait_thresholds){SP_WAIT_MODERATE, SP_WAIT_SEVERE};
	r->training.selection = (struct sp_step_selection){.to = UINT32_MAX, .epoch = -1};
	r->run.selection =
		selection ? *selection : (struct sp_selection){0, 0, INT64_MIN, INT64_MAX};
	for (; *paths; paths++)
		ck_assert_int_eq(sp_index_add(&r->run.index, *paths), 0);
	ck_assert_int_eq(sp_report_scan(r), 0);
	ck_assert_int_eq(sp_report_read(r), 0);
	current = load;
	ck_assert_int_eq(sp_input_warnings(r, 1000, count_complaint), 0);
}

void sp_load_one(struct sp_load *load, const char *path)
{
	sp_load(load, (const char *const[]){path, NULL}, 1, NULL);
}

void sp_load_finish(struct sp_load *load)
{
	sp_report_finish(&load->report);
}

char *sp_load_print(const struct sp_load *load, const char *view, enum sp_format format)
{
	struct sp_view_options options = {.limit = UINT32_MAX};

	return sp_load_print_with(load, view, format, &options);
}

char *sp_load_print_with(const struct sp_load *load, const char *view, enum sp_format format,
			 const struct sp_view_options *options)
{
	struct sp_out out = {.format = format};
	char *text = NULL;
	size_t bytes = 0;

	out.file = open_memstream(&text, &bytes);
	ck_assert_ptr_nonnull(out.file);
	sp_out_begin(&out);
	ck_assert_int_eq(sp_view_find(view)->show(&load->report, &out, options), 0);
	ck_assert_int_eq(sp_out_end(&out), 0);
	fclose(out.file);
	return text;
}
