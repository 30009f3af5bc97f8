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
#include "analyzer/steps/step_machine.h"
#include "analyzer/training/training_account.h"

void sp_folder_make(char ret[64])
{
	const char *folder = getenv("STAGEPROF_TEST_FOLDERS"); /* tests/unit/step_rows.py */

	/* Tens of thousands of little files: in memory where that is to be had. */
	if (!folder)
		folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	ck_assert_int_lt(snprintf(ret, 64, "%s/stageprof-unit-XXXXXX", folder), 64);
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

/* The account is the sum of the timeline: in each step, and together. */
static void check_timeline(const struct sp_training *training, const struct sp_trainer *trainer)
{
	const struct sp_thread_timeline *timeline = &trainer->steps.timeline;
	struct sp_account all = sp_trainer_account(training, trainer);
	struct sp_account sum = sp_thread_timeline_account(timeline, INT64_MIN, INT64_MAX);

	for (uint32_t i = 0; i < trainer->steps.count; i++) {
		const struct sp_step *step = &trainer->steps.steps[i];
		struct sp_account a =
			sp_thread_timeline_account(timeline, step->start_ns, step->end_ns);

		for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
			ck_assert_msg(a.ns[phase] == step->account.ns[phase],
				      "step %u: %s has %llu ns, its timeline %llu ns", i,
				      sp_account_name((enum sp_account_phase)phase),
				      (unsigned long long)step->account.ns[phase],
				      (unsigned long long)a.ns[phase]);
	}
	for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
		ck_assert_msg(sum.ns[phase] == all.ns[phase],
			      "%s has %llu ns, its timeline %llu ns",
			      sp_account_name((enum sp_account_phase)phase),
			      (unsigned long long)all.ns[phase], (unsigned long long)sum.ns[phase]);
}

void sp_load(struct sp_load *load, const char *const *paths, unsigned jobs,
	     const struct sp_selection *selection)
{
	struct sp_report *r = &load->report;

	*load = (struct sp_load){.complaints = 0};
	if (getenv("STAGEPROF_TEST_ROW_OFF")) /* tests/unit/step_rows.py */
		sp_step_row_off = (uint32_t)atoi(getenv("STAGEPROF_TEST_ROW_OFF"));
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
	for (uint32_t i = 0; !selection && i < r->training.count; i++)
		if (!r->training.trainers[i].is_digested)
			check_timeline(&r->training, &r->training.trainers[i]);
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
