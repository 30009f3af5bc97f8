/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/ranks/rank_comparison.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/views/ranks/rank_clocks.h"
#include "analyzer/views/ranks/rank_left_out.h"
#include "analyzer/views/ranks/rank_text.h"

static bool is_same_place(const struct sp_report *report, const struct sp_rank *a,
			  const struct sp_rank *b)
{
	const struct sp_process_image *x = sp_rank_image(report, a), *y = sp_rank_image(report, b);

	if (a->group != b->group || a->group == SP_RANK_ALONE)
		return a == b;
	return a->group == SP_RANK_HOST ? x->host == y->host : x->local_rank == y->local_rank;
}

/* The ranks that straggle with this one; 0 where one of them comes before it in the list. */
static uint32_t count_group(const struct sp_report *report, const struct sp_rank *rank)
{
	const struct sp_ranks *ranks = &report->ranks;
	uint32_t n = 0;

	if (rank->group == SP_RANK_ALONE)
		return 1;
	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct sp_rank *other = &ranks->list[i];

		if (!other->is_straggler || !is_same_place(report, rank, other))
			continue;
		if (other < rank)
			return 0;
		n++;
	}
	return n;
}

static void who_straggles(const struct sp_report *report, const struct sp_rank *rank, uint32_t n,
			  char ret[SP_RANK_TEXT_BYTES])
{
	char host[SP_RANK_HOST_BYTES];

	sp_rank_host_text(report, rank, host);
	if (rank->group == SP_RANK_HOST)
		snprintf(ret, SP_RANK_TEXT_BYTES, _("host %s (all its %u ranks)"), host, n);
	else if (rank->group == SP_RANK_SLOT)
		snprintf(ret, SP_RANK_TEXT_BYTES, _("local rank %llu (of %u hosts)"),
			 (unsigned long long)sp_rank_image(report, rank)->local_rank - 1, n);
	else
		sp_rank_text(report, rank, ret);
}

/* The steps of a straggler that is not late in all; "" of another. */
static void when_late(const struct sp_ranks *ranks, const struct sp_rank *rank,
		      char ret[SP_RANK_TEXT_BYTES])
{
	uint32_t n = ranks->step_count;

	*ret = '\0';
	if (rank->late_steps)
		snprintf(ret, SP_RANK_TEXT_BYTES, _(", in %u of %u steps"), rank->late_steps, n);
	if (rank->late_to - rank->late_from >= n - n / 50)
		return;
	if (rank->late_to >= n - n / 50)
		snprintf(ret, SP_RANK_TEXT_BYTES, _(", from step %u on"),
			 ranks->steps[rank->late_from]);
	else
		snprintf(ret, SP_RANK_TEXT_BYTES, _(", in steps %u to %u"),
			 ranks->steps[rank->late_from], ranks->steps[rank->late_to - 1]);
}

static void show_straggler(const struct sp_report *report, struct sp_out *out,
			   const struct sp_rank *rank)
{
	char name[SP_RANK_TEXT_BYTES], when[SP_RANK_TEXT_BYTES], a[SP_NUMBER_BYTES],
		b[SP_NUMBER_BYTES];
	uint32_t n = count_group(report, rank);
	double share =
		rank->wall_p50_ns ? (double)rank->late_p50_ns / (double)rank->wall_p50_ns : 0;

	if (n == 0)
		return;
	who_straggles(report, rank, n, name);
	when_late(&report->ranks, rank, when);
	sp_out_line(out,
		    "straggler  %s: %s later than the others, %.0f%% of a step; %s of it in %s%s",
		    name, sp_text_ns(a, (uint64_t)rank->late_p50_ns), 100 * share,
		    sp_text_ns(b, (uint64_t)rank->cause_p50_ns), sp_account_title(rank->cause),
		    when);
}

static void show_stragglers(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;

	for (uint32_t i = 0; i < ranks->count; i++)
		if (ranks->list[i].is_straggler)
			show_straggler(report, out, &ranks->list[i]);
	if (ranks->step_count < SP_RANKS_STEPS_MIN)
		sp_out_line(out,
			    sp_translate_plural("straggler  not known: all ranks took %u step, %u "
						"are needed",
						"straggler  not known: all ranks took %u steps, %u "
						"are needed",
						ranks->step_count),
			    ranks->step_count, SP_RANKS_STEPS_MIN);
	else if (!ranks->stragglers && ranks->by_collectives)
		sp_out_line(out,
			    "straggler  none: no rank is later than the others by %.0f%% of a step",
			    100 * SP_STRAGGLER_SHARE);
	else if (!ranks->stragglers && ranks->by_host_time)
		sp_out_line(out,
			    "straggler  none on the host by %.0f%% of a step; "
			    "a rank whose GPU is late is not seen",
			    100 * SP_STRAGGLER_SHARE);
	else if (!ranks->stragglers)
		sp_out_line(out,
			    "straggler  none outside backward by %.0f%% of a step; "
			    "a rank that is late in backward is not seen",
			    100 * SP_STRAGGLER_SHARE);
}

static bool has_nccl(const struct sp_report *report)
{
	return report->totals.stages[SP_STAGE_nccl].calls != 0;
}

static const char *basis_reason(const struct sp_report *report)
{
	return has_nccl(report) ? _("NCCL's collectives end on the GPU and are not recorded")
				: _("no collective of gloo, MPI or UCC was seen");
}

static void show_basis(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;

	if (ranks->by_collectives)
		sp_out_line(out, "behind     by arrival at the last collective of each of %u steps",
			    ranks->step_count);
	else if (ranks->by_host_time)
		sp_out_line(out,
			    "behind     by the time of a step on the host without waits for the "
			    "GPU, %u steps: %s",
			    ranks->step_count, basis_reason(report));
	else
		sp_out_line(out, "behind     by the time of a step outside backward, %u steps: %s",
			    ranks->step_count, basis_reason(report));
	if (ranks->by_collectives)
		sp_out_line(out, "medians    step, input wait, waits for others, behind: of these "
				 "steps");
	else
		sp_out_line(out, "medians    step, input wait, behind: of these steps");
}

/* The first ranks of the first group: "0, 8, 16, …", or "0 to 7". */
static void peers_text(const struct sp_rank_division *d, char ret[SP_RANK_TEXT_BYTES])
{
	unsigned long long size = d->block / d->stride, last = d->block - d->stride;

	if (d->stride == 1)
		snprintf(ret, SP_RANK_TEXT_BYTES, _("0 to %llu"), last);
	else if (size > 2)
		snprintf(ret, SP_RANK_TEXT_BYTES, _("0, %llu, … %llu"),
			 (unsigned long long)d->stride, last);
	else
		snprintf(ret, SP_RANK_TEXT_BYTES, _("0, %llu"), last);
}

/* Send and receive are what stages of a pipeline do; other parts of a model have collectives. */
static bool has_exchanges(const struct sp_report *report)
{
	return SP_ANY(t, report->training.count, report->training.trainers[t].steps.has_exchanges);
}

static void show_peers(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_rank_division *d = &report->ranks.division;
	char first[SP_RANK_TEXT_BYTES];

	if (!d->block)
		return;
	peers_text(d, first);
	sp_out_line(out,
		    "peers      %llu groups of %llu ranks that meet at the end of a step (ranks %s "
		    "…): data parallel; each is compared alone",
		    (unsigned long long)(sp_ranks_world(report) / d->block * d->stride),
		    (unsigned long long)(d->block / d->stride), first);
	if (has_exchanges(report))
		sp_out_line(out, "           the groups hold parts of the model; ranks send and "
				 "receive, as stages of a pipeline do");
	else
		sp_out_line(out, "           the groups hold parts of the model: tensor or "
				 "pipeline "
				 "parallel, not known which");
}

static void show_skew(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out, "skew       input wait: p50 %s, p95 %s between the ranks of a step",
		    sp_text_ns(a, ranks->loader_skew_p50_ns),
		    sp_text_ns(b, ranks->loader_skew_p95_ns));
	sp_out_line(out, "           start of a step: p50 %s, p95 %s",
		    sp_text_ns(a, ranks->start_skew_p50_ns),
		    sp_text_ns(b, ranks->start_skew_p95_ns));
}

static void show_json(const struct sp_report *report, struct sp_json *j,
		      const struct sp_rank_hosts *hosts)
{
	const struct sp_ranks *ranks = &report->ranks;
	const char *reason = ranks->by_collectives ? NULL : basis_reason(report);

	sp_json_open(j, "comparison", '{');
	sp_json_count(j, "steps", ranks->step_count);
	if (ranks->stragglers || sp_rank_is_judged(ranks, ranks->list))
		sp_json_count(j, "stragglers", ranks->stragglers);
	else
		sp_json_null(j, "stragglers");
	sp_json_count(j, "ranks_missing", sp_ranks_missing(report));
	sp_json_count(j, "peer_groups",
		      ranks->division.block ? sp_ranks_world(report) / ranks->division.block *
						      ranks->division.stride
					    : 1);
	sp_json_bool(j, "by_collectives", ranks->by_collectives);
	if (reason)
		sp_json_string(j, "reason", reason, strlen(reason));
	else
		sp_json_null(j, "reason");
	sp_json_count(j, "loader_wait_skew_ns_p50", ranks->loader_skew_p50_ns);
	sp_json_count(j, "loader_wait_skew_ns_p95", ranks->loader_skew_p95_ns);
	sp_json_count(j, "start_skew_ns_p50", ranks->start_skew_p50_ns);
	sp_json_count(j, "start_skew_ns_p95", ranks->start_skew_p95_ns);
	sp_rank_clocks_json(report, j, hosts);
	sp_json_close(j, '}');
}

static void show_lines(const struct sp_report *report, struct sp_out *out,
		       struct sp_rank_hosts *hosts)
{
	show_stragglers(report, out);
	show_basis(report, out);
	show_peers(report, out);
	show_skew(report, out);
	sp_rank_clocks_show(report, out, hosts, basis_reason(report));
	sp_ranks_missing_show(report, out);
	sp_ranks_excluded_show(report, out);
	sp_out_line(out, "%s", "");
}

static void show_nothing(const struct sp_report *report, struct sp_out *out)
{
	if (report->ranks.compared)
		sp_out_line(out, "one process trains: there is nothing to compare");
	else
		sp_out_line(out, "no process trains: no optimizer step was seen");
	sp_ranks_excluded_show(report, out);
	if (out->format == SP_FORMAT_JSON)
		sp_json_null(&out->json, "comparison");
}

int sp_rank_comparison_show(const struct sp_report *report, struct sp_out *out)
{
	struct sp_rank_hosts hosts;
	int r;

	if (report->ranks.compared < 2) {
		show_nothing(report, out);
		return 0;
	}
	r = sp_rank_hosts_list(report, &hosts);
	if (r == 0 && out->format == SP_FORMAT_JSON)
		show_json(report, &out->json, &hosts);
	else if (r == 0)
		show_lines(report, out, &hosts);
	free(hosts.first);
	return r;
}
