/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/text.h"

#define HOST_BYTES 80u
#define WHO_BYTES 128u
#define CLOCKS_SHOWN 4u
#define ROWS_UNFOLDED 16u
#define GAPS_SHOWN 4u

enum {
	RANK,
	LOCAL,
	WORLD,
	HOST,
	PID,
	STEPS,
	WALL,
	LOADER,
	WAIT,
	BEHIND,
	LATE,
	LAST,
	STRAGGLER,
	CAUSE,
	PHASE,
	GROUP,
	PEERS,
	FROM,
	TO,
	LATE_NS,
	ASIDE,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[RANK] = {"rank", N_("rank"), SP_CELL_ID},
	[LOCAL] = {"local_rank", N_("local"), SP_CELL_ID},
	[WORLD] = {"world_size", NULL, SP_CELL_ID},
	[HOST] = {"host", N_("host"), SP_CELL_TEXT},
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[STEPS] = {"steps", N_("steps"), SP_CELL_COUNT},
	[WALL] = {"wall_ns_p50", N_("step"), SP_CELL_NS},
	[LOADER] = {"loader_wait_ns_p50", N_("input wait"), SP_CELL_NS},
	[WAIT] = {"peer_wait_ns_p50", N_("waits for others"), SP_CELL_NS},
	[BEHIND] = {"behind_ns_p50", NULL, SP_CELL_SIGNED},
	[LATE] = {NULL, N_("behind"), SP_CELL_NS}, /* empty for a rank without a clock */
	[LAST] = {"steps_last", N_("last in"), SP_CELL_COUNT},
	[STRAGGLER] = {"straggler", NULL, SP_CELL_TEXT},
	[CAUSE] = {"straggles_in", NULL, SP_CELL_TEXT},
	[PHASE] = {NULL, N_("slow phase"), SP_CELL_TEXT},
	[GROUP] = {"straggles_with", NULL, SP_CELL_TEXT},
	[PEERS] = {"peer_group", NULL, SP_CELL_ID}, /* compared with each other alone */
	[FROM] = {"late_from_step", NULL, SP_CELL_ID},
	[TO] = {"late_to_step", NULL, SP_CELL_ID},
	[LATE_NS] = {"late_ns_p50", NULL, SP_CELL_SIGNED},
	[ASIDE] = {"not_compared", NULL, SP_CELL_TEXT},
};

static const struct sp_process_image *image_of(const struct sp_report *report,
					       const struct sp_rank *rank)
{
	const struct sp_trainer *t = &report->training.trainers[rank->trainer];

	return &report->run.index.images[report->run.index.streams[t->stream]->image];
}

static const char *const group_names[] = {
	[SP_RANK_ALONE] = "none",
	[SP_RANK_HOST] = "host",
	[SP_RANK_SLOT] = "local_rank",
};

static const char *const aside_names[] = {
	[SP_RANK_SHORTER] = "another_has_more_steps",
	[SP_RANK_OTHER_WORLD] = "other_world_size",
	[SP_RANK_OTHER_TIME] = "other_time",
	[SP_RANK_FEW_STEPS] = "few_steps",
};

/* The header stores this plus 1. */
static struct sp_cell number_cell(uint64_t number)
{
	return number ? sp_cell_count(number - 1) : sp_cell_null();
}

static void fill_compared(const struct sp_report *report, const struct sp_rank *rank,
			  struct sp_cell cells[CELLS])
{
	const struct sp_ranks *ranks = &report->ranks;

	if (!rank->is_compared || ranks->step_count == 0)
		return;
	cells[WALL] = sp_cell_count(rank->wall_p50_ns);
	cells[LOADER] = sp_cell_count(rank->loader_p50_ns);
	if (ranks->compared < 2)
		return;
	if (ranks->by_collectives)
		cells[WAIT] = sp_cell_count(rank->wait_p50_ns);
	cells[BEHIND] = sp_cell_signed(rank->behind_p50_ns);
	if (ranks->division.block)
		cells[PEERS] = sp_cell_count(
			sp_rank_peers_of(&ranks->division, image_of(report, rank)->rank - 1));
	if (rank->behind_p50_ns > 0)
		cells[LATE] = sp_cell_count((uint64_t)rank->behind_p50_ns);
	cells[LAST] = sp_cell_count(rank->last_in);
	if (sp_rank_is_judged(ranks, rank))
		cells[STRAGGLER] = sp_cell_text(rank->is_straggler ? "yes" : "no");
	if (!rank->is_straggler)
		return;
	cells[CAUSE] = sp_cell_text(sp_account_name(rank->cause));
	cells[PHASE] = sp_cell_text(sp_account_title(rank->cause));
	cells[GROUP] = sp_cell_text(group_names[rank->group]);
	cells[FROM] = sp_cell_count(ranks->steps[rank->late_from]);
	cells[TO] = sp_cell_count(ranks->steps[rank->late_to - 1]);
	cells[LATE_NS] = sp_cell_signed(rank->late_p50_ns);
}

static int show_rank(const struct sp_report *report, struct sp_out *out, const struct sp_rank *rank)
{
	const struct sp_process_image *image = image_of(report, rank);
	const struct sp_host *host = &report->run.index.hosts[image->host];
	struct sp_cell cells[CELLS];

	for (int i = 0; i < CELLS; i++)
		cells[i] = sp_cell_null();
	cells[RANK] = number_cell(image->rank);
	cells[LOCAL] = number_cell(image->local_rank);
	cells[WORLD] = image->world_size ? sp_cell_count(image->world_size) : sp_cell_null();
	cells[HOST] = sp_cell_bytes(host->name, strnlen(host->name, sizeof(host->name)));
	cells[PID] = sp_cell_count(image->pid);
	cells[STEPS] = sp_cell_count(report->training.trainers[rank->trainer].steps.count);
	fill_compared(report, rank, cells);
	if (rank->aside != SP_RANK_COMPARED)
		cells[ASIDE] = sp_cell_text(aside_names[rank->aside]);
	return sp_out_row(out, cells);
}

static void host_name(const struct sp_report *report, const struct sp_rank *rank,
		      char ret[HOST_BYTES])
{
	const struct sp_host *host = &report->run.index.hosts[image_of(report, rank)->host];

	sp_text_escape(ret, HOST_BYTES, host->name, strnlen(host->name, sizeof(host->name)));
}

static void who(const struct sp_report *report, const struct sp_rank *rank, char ret[WHO_BYTES])
{
	const struct sp_process_image *image = image_of(report, rank);
	char host[HOST_BYTES];

	host_name(report, rank, host);
	if (image->rank)
		snprintf(ret, WHO_BYTES, _("rank %llu (%s)"), (unsigned long long)image->rank - 1,
			 host);
	else
		snprintf(ret, WHO_BYTES, _("process %u (%s)"), image->pid, host);
}

static bool is_same_place(const struct sp_report *report, const struct sp_rank *a,
			  const struct sp_rank *b)
{
	const struct sp_process_image *x = image_of(report, a), *y = image_of(report, b);

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
			  char ret[WHO_BYTES])
{
	char host[HOST_BYTES];

	host_name(report, rank, host);
	if (rank->group == SP_RANK_HOST)
		snprintf(ret, WHO_BYTES, _("host %s (all its %u ranks)"), host, n);
	else if (rank->group == SP_RANK_SLOT)
		snprintf(ret, WHO_BYTES, _("local rank %llu (of %u hosts)"),
			 (unsigned long long)image_of(report, rank)->local_rank - 1, n);
	else
		who(report, rank, ret);
}

/* The stretch of a straggler that is not late in all steps; "" of another. */
static void when_late(const struct sp_ranks *ranks, const struct sp_rank *rank, char ret[WHO_BYTES])
{
	uint32_t n = ranks->step_count;

	*ret = '\0';
	if (rank->late_to - rank->late_from >= n - n / 50)
		return;
	if (rank->late_to >= n - n / 50)
		snprintf(ret, WHO_BYTES, _(", from step %u on"), ranks->steps[rank->late_from]);
	else
		snprintf(ret, WHO_BYTES, _(", in steps %u to %u"), ranks->steps[rank->late_from],
			 ranks->steps[rank->late_to - 1]);
}

static void show_straggler(const struct sp_report *report, struct sp_out *out,
			   const struct sp_rank *rank)
{
	char name[WHO_BYTES], when[WHO_BYTES], a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];
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

static uint32_t count_aside(const struct sp_ranks *ranks, enum sp_rank_aside why)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ranks->count; i++)
		n += ranks->list[i].aside == why;
	return n;
}

/* Ranks [from, to) of a job of `world` that no input has. */
struct rank_gap {
	uint64_t from, to, world;
	uint32_t next; /* of ranks.list */
};

/* The job that is compared; 0: its size is not known. */
static uint64_t world_of(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->ranks.count; i++)
		if (report->ranks.list[i].is_compared)
			return image_of(report, &report->ranks.list[i])->world_size;
	return 0;
}

/* The first gap after this one; false: there is none. The list is in the order of ranks. */
static bool find_gap(const struct sp_report *report, struct rank_gap *gap)
{
	gap->from = gap->to;
	for (; gap->next < report->ranks.count; gap->next++) {
		const struct sp_process_image *image =
			image_of(report, &report->ranks.list[gap->next]);

		if (!image->rank || image->world_size != gap->world || image->rank <= gap->from)
			continue;
		gap->to = image->rank - 1;
		if (gap->to > gap->from)
			return gap->to <= gap->world;
		gap->from++;
	}
	gap->to = gap->world;
	return gap->from < gap->to;
}

static void show_gaps(const struct sp_report *report, struct sp_out *out)
{
	struct rank_gap gap = {.world = world_of(report)};
	uint64_t more = 0;

	for (unsigned i = 0; find_gap(report, &gap); i++) {
		if (i >= GAPS_SHOWN)
			more += gap.to - gap.from;
		else if (gap.to - gap.from == 1)
			sp_out_line(out, "missing    rank %llu of %llu is in no input",
				    (unsigned long long)gap.from, (unsigned long long)gap.world);
		else
			sp_out_line(out, "missing    ranks %llu to %llu of %llu are in no input",
				    (unsigned long long)gap.from, (unsigned long long)gap.to - 1,
				    (unsigned long long)gap.world);
	}
	if (more)
		sp_out_line(out,
			    sp_translate_plural("           %llu more rank is in no input",
						"           %llu more ranks are in no input",
						(unsigned long)more),
			    (unsigned long long)more);
}

static uint64_t count_missing(const struct sp_report *report)
{
	struct rank_gap gap = {.world = world_of(report)};
	uint64_t missing = 0;

	while (find_gap(report, &gap))
		missing += gap.to - gap.from;
	return missing;
}

static void show_aside(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;
	uint32_t shorter = count_aside(ranks, SP_RANK_SHORTER);
	uint32_t world = count_aside(ranks, SP_RANK_OTHER_WORLD);
	uint32_t time = count_aside(ranks, SP_RANK_OTHER_TIME);
	uint32_t few = count_aside(ranks, SP_RANK_FEW_STEPS);

	if (shorter)
		sp_out_line(out,
			    sp_translate_plural("           %u more thread trains, of a rank that "
						"has another with more steps",
						"           %u more threads train, of ranks that "
						"have another with more steps",
						shorter),
			    shorter);
	if (world)
		sp_out_line(out,
			    sp_translate_plural("           %u rank is not compared: it is of a "
						"job of another size",
						"           %u ranks are not compared: they are of "
						"a job of another size",
						world),
			    world);
	if (time)
		sp_out_line(out,
			    sp_translate_plural("           %u rank is not compared: it trained at "
						"another time",
						"           %u ranks are not compared: they "
						"trained at another time",
						time),
			    time);
	if (few)
		sp_out_line(out,
			    sp_translate_plural("           %u rank is not compared: it took fewer "
						"than half of the steps",
						"           %u ranks are not compared: they took "
						"fewer than half of the steps",
						few),
			    few);
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
static void peers_text(const struct sp_rank_division *d, char ret[WHO_BYTES])
{
	unsigned long long size = d->block / d->stride, last = d->block - d->stride;

	if (d->stride == 1)
		snprintf(ret, WHO_BYTES, _("0 to %llu"), last);
	else if (size > 2)
		snprintf(ret, WHO_BYTES, _("0, %llu, … %llu"), (unsigned long long)d->stride, last);
	else
		snprintf(ret, WHO_BYTES, _("0, %llu"), last);
}

/* Send and receive are what stages of a pipeline do; other parts of a model have collectives. */
static bool has_exchanges(const struct sp_report *report)
{
	for (uint32_t t = 0; t < report->training.count; t++)
		if (report->training.trainers[t].steps.has_exchanges)
			return true;
	return false;
}

static void show_peers(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_rank_division *d = &report->ranks.division;
	char first[WHO_BYTES];

	if (!d->block)
		return;
	peers_text(d, first);
	sp_out_line(out,
		    "peers      %llu groups of %llu ranks that meet at the end of a step (ranks %s "
		    "…): data parallel; each is compared alone",
		    (unsigned long long)(world_of(report) / d->block * d->stride),
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

/* The compared rank that comes first of each host. */
struct host_list {
	const struct sp_rank **first;
	uint32_t count;
};

static int list_hosts(const struct sp_report *report, struct host_list *ret)
{
	uint32_t hosts = report->run.index.host_count;
	bool *is_listed = calloc(hosts + 1u, sizeof(*is_listed));
	bool has_room;

	*ret = (struct host_list){.first = calloc(hosts + 1u, sizeof(*ret->first))};
	has_room = is_listed && ret->first;
	for (uint32_t i = 0; has_room && i < report->ranks.count; i++) {
		const struct sp_rank *rank = &report->ranks.list[i];
		uint32_t host = image_of(report, rank)->host;

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

static int compare_clocks(const void *a, const void *b)
{
	const struct sp_rank *x = *(const struct sp_rank *const *)a,
			     *y = *(const struct sp_rank *const *)b;
	uint64_t distance_x = clock_distance(x), distance_y = clock_distance(y);

	if (distance_x != distance_y)
		return distance_x < distance_y ? 1 : -1;
	return (x > y) - (x < y);
}

static void show_clock(const struct sp_report *report, struct sp_out *out, const char *head,
		       const struct sp_rank *rank)
{
	char name[HOST_BYTES], first[HOST_BYTES], a[SP_NUMBER_BYTES];

	host_name(report, rank, name);
	host_name(report, &report->ranks.list[0], first);
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

/* The clocks that are furthest off; of the others, how far they are off at most. */
static void show_clocks(const struct sp_report *report, struct sp_out *out,
			const struct host_list *hosts)
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
			    hosts->count, basis_reason(report));
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

static void show_clocks_json(const struct sp_report *report, struct sp_json *j,
			     const struct host_list *hosts)
{
	sp_json_open(j, "clocks", '[');
	for (uint32_t i = 0; i < hosts->count; i++) {
		const struct sp_host *host =
			&report->run.index.hosts[image_of(report, hosts->first[i])->host];

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

static void show_json(const struct sp_report *report, struct sp_json *j,
		      const struct host_list *hosts)
{
	const struct sp_ranks *ranks = &report->ranks;
	const char *reason = ranks->by_collectives ? NULL : basis_reason(report);

	sp_json_open(j, "comparison", '{');
	sp_json_count(j, "steps", ranks->step_count);
	if (ranks->stragglers || sp_rank_is_judged(ranks, ranks->list))
		sp_json_count(j, "stragglers", ranks->stragglers);
	else
		sp_json_null(j, "stragglers");
	sp_json_count(j, "ranks_missing", count_missing(report));
	sp_json_count(j, "peer_groups",
		      ranks->division.block
			      ? world_of(report) / ranks->division.block * ranks->division.stride
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
	show_clocks_json(report, j, hosts);
	sp_json_close(j, '}');
}

static void show_comparison(const struct sp_report *report, struct sp_out *out,
			    const struct host_list *hosts)
{
	const struct sp_ranks *ranks = &report->ranks;

	if (ranks->compared < 2) {
		if (ranks->compared)
			sp_out_line(out, "one process trains: there is nothing to compare");
		else
			sp_out_line(out, "no process trains: no optimizer step was seen");
		show_aside(report, out);
		if (out->format == SP_FORMAT_JSON)
			sp_json_null(&out->json, "comparison");
		return;
	}
	if (out->format == SP_FORMAT_JSON) {
		show_json(report, &out->json, hosts);
		return;
	}
	show_stragglers(report, out);
	show_basis(report, out);
	show_peers(report, out);
	show_skew(report, out);
	show_clocks(report, out, hosts);
	show_gaps(report, out);
	show_aside(report, out);
	sp_out_line(out, "%s", "");
}

static uint64_t by_rank(const void *context, uint32_t i)
{
	(void)context;
	return UINT64_MAX - i;
}

static uint64_t by_behind(const void *context, uint32_t i)
{
	const struct sp_ranks *ranks = context;

	return (uint64_t)ranks->list[i].behind_p50_ns + (UINT64_C(1) << 63);
}

static uint64_t by_loader(const void *context, uint32_t i)
{
	return ((const struct sp_ranks *)context)->list[i].loader_p50_ns;
}

static const struct sp_sort_key keys[] = {{"rank", "rank", N_("rank"), by_rank},
					  {"behind", "behind_ns_p50", N_("behind"), by_behind},
					  {"loader_wait", "loader_wait_ns_p50", N_("input wait"),
					   by_loader}};

/* True for a rank that is neither late nor early, with about as many steps as most; such ranks
 * share a row where there are many. */
static bool is_like_median(const struct sp_rank *rank)
{
	double off = rank->behind_p50_ns < 0 ? -(double)rank->behind_p50_ns
					     : (double)rank->behind_p50_ns;

	return rank->is_compared && !rank->is_straggler && !rank->has_many_steps &&
	       off < SP_STRAGGLER_SHARE / 2 * (double)rank->wall_p50_ns;
}

/* Rows of the table, which share a row where they are many, and their numbers. */
struct rank_rows {
	bool folds_like, folds_aside;
	uint32_t shown, like, aside;
};

static struct rank_rows rows_of(const struct sp_ranks *ranks, const struct sp_out *out,
				const struct sp_view_options *options)
{
	bool folds =
		out->format == SP_FORMAT_TABLE && !options->sort && ranks->compared > ROWS_UNFOLDED;

	return (struct rank_rows){.folds_like = folds,
				  .folds_aside =
					  folds && ranks->count - ranks->compared > ROWS_UNFOLDED};
}

static int show_rows(struct rank_rows *rows, const struct sp_report *report, struct sp_out *out,
		     const uint32_t *order, uint32_t limit)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < report->ranks.count; i++) {
		const struct sp_rank *rank = &report->ranks.list[order[i]];

		if (rows->folds_like && is_like_median(rank))
			rows->like++;
		else if (rows->folds_aside && !rank->is_compared)
			rows->aside++;
		else if (rows->shown++ < limit)
			r = show_rank(report, out, rank);
	}
	return r;
}

static void show_folded(const struct rank_rows *rows, struct sp_out *out)
{
	char text[SP_NUMBER_BYTES];

	if (rows->like)
		sp_out_line(out,
			    sp_translate_plural("%s rank like the median: --sort=rank "
						"--limit=all",
						"%s ranks like the median: --sort=rank "
						"--limit=all",
						rows->like),
			    sp_text_count(text, rows->like));
	if (rows->aside)
		sp_out_line(out,
			    sp_translate_plural("%s rank that is not compared: --sort=rank "
						"--limit=all",
						"%s ranks that are not compared: "
						"--sort=rank --limit=all",
						rows->aside),
			    sp_text_count(text, rows->aside));
}

static int show_table(const struct sp_report *report, struct sp_out *out, const uint32_t *order,
		      const struct sp_view_options *options)
{
	struct rank_rows rows = rows_of(&report->ranks, out, options);
	int r = sp_out_table(out, "ranks", NULL, columns, CELLS, true);

	if (r == 0)
		r = show_rows(&rows, report, out, order, options->limit);
	if (r != 0)
		return r;
	sp_out_table_end(out);
	sp_view_more(out, rows.shown > options->limit ? rows.shown - options->limit : 0);
	show_folded(&rows, out);
	return 0;
}

int sp_view_ranks(const struct sp_report *report, struct sp_out *out,
		  const struct sp_view_options *options)
{
	const struct sp_ranks *ranks = &report->ranks;
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	uint32_t *order = key ? sp_order_by(ranks->count, key->value, ranks) : NULL;
	int r = !key ? -EINVAL : !order ? -ENOMEM : 0;
	struct host_list hosts = {.first = NULL};

	if (r == 0)
		r = list_hosts(report, &hosts);
	if (r == 0) {
		sp_run_json(report, out);
		show_comparison(report, out, &hosts);
		r = show_table(report, out, order, options);
	}
	free(hosts.first);
	free(order);
	return r;
}
