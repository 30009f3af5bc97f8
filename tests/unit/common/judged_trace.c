/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/judged_trace.h"

#include <check.h>
#include <string.h>

#include "analyzer/verdict/judge.h"

enum { PID = 10 };

char folder[64];
struct sp_maker m;
struct sp_load load;
struct sp_verdict v;

void judged_trace_begin(void)
{
	sp_folder_make(folder);
	thread_begin(PID);
}

void judged_trace_end(void)
{
	sp_load_finish(&load);
	sp_maker_finish(&m); /* of a test that judges nothing */
	sp_folder_remove(folder);
}

void thread_begin(uint32_t tid)
{
	sp_maker_init(&m, PID, tid, 0);
	sp_maker_header(&m);
}

void name(uint32_t id, const char *text)
{
	sp_maker_define(&m, SP_DEFINE_NAME, id, text, strlen(text));
}

void span(uint32_t kind, uint32_t arg, uint64_t ns, int64_t value)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += ns;
	sp_maker_around(&m, kind, arg, start, value);
}

const char *judge(void)
{
	sp_maker_put(&m, folder, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	return sp_rule_of(v.id)->reason ? sp_rule_of(v.id)->reason : sp_rule_of(v.id)->code;
}

double value(enum sp_metric_id metric)
{
	ck_assert_msg(v.metrics.of[metric].is_known, "%s", sp_metric_about(metric)->name);
	return v.metrics.of[metric].value;
}
