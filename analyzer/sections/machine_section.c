/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/machine_section.h"

#include <math.h>
#include <string.h>

#include "analyzer/metadata/memory_growth.h"
#include "analyzer/metrics/metrics_cores.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

static void show_cores(const struct sp_report *report, struct sp_out *out)
{
	double idle = sp_cores_idle(report), busy = sp_cores_busy(report);
	double quota = sp_cores_quota(report), throttled = sp_cores_throttled_share(report);

	if (!isnan(busy))
		sp_out_line(out, "cores      %.1f of %.0f busy while training, %.1f idle", busy,
			    sp_cores_usable(report), idle);
	if (!isnan(quota) && !isnan(throttled))
		sp_out_line(out,
			    "           the quota of %.1f was used up in %.1f%% of its periods",
			    quota, 100 * throttled);
	else if (!isnan(quota))
		sp_out_line(out, "           a quota of %.1f", quota);
}

static const char *const kinds[] = {
	[SP_MEMORY_STEADY] = "steady",
	[SP_MEMORY_COPY_ON_WRITE] = "copy-on-write",
	[SP_MEMORY_LEAK] = "leak",
};

static void show_growth(const struct sp_memory_growth *g, uint32_t pid, struct sp_out *out)
{
	char bytes[SP_NUMBER_BYTES];

	sp_text_bytes(bytes, (uint64_t)sp_memory_growth_a_batch(g));
	switch (sp_memory_growth_kind(g)) {
	case SP_MEMORY_LEAK:
		sp_out_line(out, "memory     process %u holds %s more with each batch", pid, bytes);
		break;
	case SP_MEMORY_COPY_ON_WRITE:
		sp_out_line(out, "memory     process %u copies %s of its parent's with each batch",
			    pid, bytes);
		break;
	case SP_MEMORY_UNKNOWN:
	case SP_MEMORY_STEADY:
		break;
	}
}

#define SHOWN_MOST 4u

void sp_machine_section(const struct sp_report *report, struct sp_out *out)
{
	uint32_t shown = 0;

	show_cores(report, out);
	for (uint32_t i = 0; i < report->run.index.image_count && shown < SHOWN_MOST; i++) {
		const struct sp_memory_growth *g = &report->run.metadata.images[i].memory;

		shown += sp_memory_growth_kind(g) > SP_MEMORY_STEADY;
		show_growth(g, report->run.index.images[i].pid, out);
	}
}

static void put_share(struct sp_json *j, const char *key, double x)
{
	if (isnan(x))
		sp_json_null(j, key);
	else
		sp_json_share(j, key, x);
}

static void put_count(struct sp_json *j, const char *key, uint64_t n)
{
	if (n == UINT64_MAX)
		sp_json_null(j, key);
	else
		sp_json_count(j, key, n);
}

static void put_cores(const struct sp_report *report, struct sp_json *j)
{
	double throttled_ns = sp_cores_throttled_ns(report);
	char mask[SP_METRIC_TEXT_BYTES];

	if (isnan(sp_cores_usable(report)))
		return;
	sp_cores_affinity(report, mask, sizeof(mask));
	sp_json_open(j, "cpu", '{');
	sp_json_string(j, "affinity", mask, strlen(mask));
	sp_json_count(j, "usable_cores", (uint64_t)sp_cores_usable(report));
	put_share(j, "busy_cores", sp_cores_busy(report));
	put_share(j, "idle_cores", sp_cores_idle(report));
	put_share(j, "quota", sp_cores_quota(report));
	put_share(j, "throttled_share", sp_cores_throttled_share(report));
	put_count(j, "throttled_ns", isnan(throttled_ns) ? UINT64_MAX : (uint64_t)throttled_ns);
	put_share(j, "pressure", sp_cores_pressure(report));
	sp_json_close(j, '}');
}

const char *sp_machine_memory_kind(const struct sp_memory_growth *growth)
{
	return kinds[sp_memory_growth_kind(growth)];
}

void sp_machine_section_json(const struct sp_report *report, struct sp_out *out)
{
	if (out->format == SP_FORMAT_JSON)
		put_cores(report, &out->json);
}
