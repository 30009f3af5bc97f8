/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/ranks/rank_clocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/views/ranks/rank_text.h"

#define CLOCKS_SHOWN 4u

int sp_rank_hosts_list(const struct sp_report *report, struct sp_rank_hosts *ret)
{
	uint32_t hosts = report->run.index.host_count;
	bool *is_listed = calloc(hosts + 1u, sizeof(*is_listed));
	bool has_room;

	*ret = (struct sp_rank_hosts){.first = calloc(hosts + 1u, sizeof(*ret->first))};
	has_room = is_listed && ret->first;
	for (uint32_t i = 0; has_room && i < report->ranks.count; i++) {
		const struct sp_rank *rank = &report->ranks.list[i];
		uint32_t host = sp_rank_image(report, rank)->host;

		if (!rank->is_compared || is_listed[host])
			continue;
		is_listed[host] = true;
		ret->first[ret->count++] = rank;
	}
	free(is_listed);
	return has_room ? 0 : -ENOMEM;
}

static uint64_t clock_distance(const struct sp_rank *rank)
{
	int64_t ahead = rank->clock_ahead_ns;

	return ahead < 0 ? 0 - (uint64_t)ahead : (uint64_t)ahead;
}

SP_ORDER(compare_clocks, struct sp_rank *const,
	 SP_COMPARE(clock_distance(*y), clock_distance(*x)) ?: SP_COMPARE(*x, *y))

static void show_clock(const struct sp_report *report, struct sp_out *out, const char *head,
		       const struct sp_rank *rank)
{
	char name[SP_RANK_HOST_BYTES], first[SP_RANK_HOST_BYTES], a[SP_NUMBER_BYTES];

	sp_rank_host_text(report, rank, name);
	sp_rank_host_text(report, &report->ranks.list[0], first);
	sp_text_ns(a, clock_distance(rank));
	if (!rank->clock_ahead_ns)
		sp_out_line(out, "%s%s and %s have the same time, by %u collectives", head, name,
			    first, report->ranks.step_count);
	else if (rank->clock_ahead_ns < 0)
		sp_out_line(out, "%s%s is %s behind %s, by %u collectives", head, name, a, first,
			    report->ranks.step_count);
	else
		sp_out_line(out, "%s%s is %s ahead of %s, by %u collectives", head, name, a, first,
			    report->ranks.step_count);
}

void sp_rank_clocks_show(const struct sp_report *report, struct sp_out *out,
			 struct sp_rank_hosts *hosts, const char *reason)
{
	const char *head = _("clocks     ");
	char a[SP_NUMBER_BYTES];

	if (hosts->count < 2) {
		sp_out_line(out, "clocks     one host, one clock");
		return;
	}
	if (report->ranks.division.block) {
		sp_out_line(out,
			    "clocks     of %u hosts, by CLOCK_REALTIME; not refined: groups of "
			    "peers leave their collectives at other instants",
			    hosts->count);
		return;
	}
	if (!report->ranks.by_collectives) {
		sp_out_line(out, "clocks     of %u hosts, by CLOCK_REALTIME; not refined: %s",
			    hosts->count, reason);
		return;
	}
	qsort(hosts->first + 1, hosts->count - 1, sizeof(*hosts->first), compare_clocks);
	for (uint32_t i = 1; i < hosts->count && i <= CLOCKS_SHOWN; i++) {
		show_clock(report, out, head, hosts->first[i]);
		head = "           ";
	}
	if (hosts->count > CLOCKS_SHOWN + 1)
		sp_out_line(out,
			    sp_translate_plural("           %u more host is off by at most %s",
						"           %u more hosts are off by at most %s",
						hosts->count - 1 - CLOCKS_SHOWN),
			    hosts->count - 1 - CLOCKS_SHOWN,
			    sp_text_ns(a, clock_distance(hosts->first[CLOCKS_SHOWN + 1])));
}

void sp_rank_clocks_json(const struct sp_report *report, struct sp_json *j,
			 const struct sp_rank_hosts *hosts)
{
	sp_json_open(j, "clocks", '[');
	for (uint32_t i = 0; i < hosts->count; i++) {
		const struct sp_host *host =
			&report->run.index.hosts[sp_rank_image(report, hosts->first[i])->host];

		sp_json_open(j, NULL, '{');
		sp_json_string(j, "host", host->name, strnlen(host->name, sizeof(host->name)));
		if (report->ranks.by_collectives && !report->ranks.division.block)
			sp_json_signed(j, "ahead_ns", hosts->first[i]->clock_ahead_ns);
		else
			sp_json_null(j, "ahead_ns");
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}
