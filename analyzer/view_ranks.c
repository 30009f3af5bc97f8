#include "analyzer/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text.h"

#define HOST_BYTES 80u
#define WHO_BYTES 128u

enum { RANK, LOCAL, WORLD, HOST, PID, STEPS, WALL, LOADER, WAIT, BEHIND, LATE, LAST, STRAGGLER, CAUSE, CELLS };

static const struct sp_column columns[CELLS] = {
	[RANK] = {"rank", N_("rank"), SP_CELL_ID},
	[LOCAL] = {"local_rank", N_("local"), SP_CELL_ID},
	[WORLD] = {"world_size", NULL, SP_CELL_ID},
	[HOST] = {"host", N_("host"), SP_CELL_TEXT},
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[STEPS] = {"steps", N_("steps"), SP_CELL_COUNT},
	[WALL] = {"wall_ns_p50", N_("step p50"), SP_CELL_NS},
	[LOADER] = {"loader_wait_ns_p50", N_("loader wait"), SP_CELL_NS},
	[WAIT] = {"peer_wait_ns_p50", N_("waits for others"), SP_CELL_NS},
	[BEHIND] = {"behind_ns_p50", NULL, SP_CELL_SIGNED},
	[LATE] = {NULL, N_("behind"), SP_CELL_NS}, /* of a rank that is not, nothing */
	[LAST] = {"steps_last", N_("last in"), SP_CELL_COUNT},
	[STRAGGLER] = {"straggler", NULL, SP_CELL_TEXT},
	[CAUSE] = {"straggles_in", N_("straggles in"), SP_CELL_TEXT},
};

static const struct sp_image *image_of(const struct sp_report *report, const struct sp_rank *rank)
{
	const struct sp_trainer *t = &report->training.trainers[rank->trainer];

	return &report->index.images[report->index.streams[t->stream]->image];
}

/* What the header holds plus 1. */
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
	if (rank->behind_p50_ns > 0)
		cells[LATE] = sp_cell_count((uint64_t)rank->behind_p50_ns);
	cells[LAST] = sp_cell_count(rank->last_in);
	cells[STRAGGLER] = sp_cell_text(rank->is_straggler ? "yes" : "no");
	if (rank->is_straggler)
		cells[CAUSE] = sp_cell_text(sp_account_name(rank->cause));
}

static int show_rank(const struct sp_report *report, struct sp_out *out, const struct sp_rank *rank)
{
	const struct sp_image *image = image_of(report, rank);
	const struct sp_host *host = &report->index.hosts[image->host];
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
	return sp_out_row(out, cells);
}

static void host_name(const struct sp_report *report, const struct sp_rank *rank,
		      char ret[HOST_BYTES])
{
	const struct sp_host *host = &report->index.hosts[image_of(report, rank)->host];

	sp_text_escape(ret, HOST_BYTES, host->name, strnlen(host->name, sizeof(host->name)));
}

static void who(const struct sp_report *report, const struct sp_rank *rank, char ret[WHO_BYTES])
{
	const struct sp_image *image = image_of(report, rank);
	char host[HOST_BYTES];

	host_name(report, rank, host);
	if (image->rank)
		snprintf(ret, WHO_BYTES, _("rank %llu (%s)"), (unsigned long long)image->rank - 1,
			 host);
	else
		snprintf(ret, WHO_BYTES, _("process %u (%s)"), image->pid, host);
}

static void show_straggler(const struct sp_report *report, struct sp_out *out,
			   const struct sp_rank *rank)
{
	char name[WHO_BYTES], a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];
	double share = rank->wall_p50_ns
			       ? (double)rank->behind_p50_ns / (double)rank->wall_p50_ns
			       : 0;

	who(report, rank, name);
	sp_out_line(out, "straggler  %s: %s behind the others, %.0f %% of a step; %s of it in %s",
		    name, sp_text_ns(a, (uint64_t)rank->behind_p50_ns), 100 * share,
		    sp_text_ns(b, (uint64_t)rank->cause_p50_ns), sp_account_title(rank->cause));
}

static void show_stragglers(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;

	for (uint32_t i = 0; i < ranks->count; i++)
		if (ranks->list[i].is_straggler)
			show_straggler(report, out, &ranks->list[i]);
	if (ranks->step_count < SP_RANKS_STEPS_MIN)
		sp_out_line(out, "straggler  cannot tell: %u steps that all ranks took, %u are needed",
			    ranks->step_count, SP_RANKS_STEPS_MIN);
	else if (!ranks->stragglers)
		sp_out_line(out, "straggler  none: no rank is behind the others by %.0f %% of a step",
			    100 * SP_STRAGGLER_SHARE);
}

static bool has_nccl(const struct sp_report *report)
{
	return report->stages[SP_STAGE_nccl].calls != 0;
}

static const char *basis_reason(const struct sp_report *report)
{
	return has_nccl(report) ? _("NCCL's collectives end on the GPU, out of sight")
				: _("no collective of gloo, MPI or UCC was seen");
}

static void show_basis(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;

	if (ranks->by_collectives)
		sp_out_line(out, "behind     by arrival at the last collective of each of %u steps",
			    ranks->step_count);
	else
		sp_out_line(out, "behind     by the time of a step outside backward, %u steps: %s",
			    ranks->step_count, basis_reason(report));
}

static void show_skew(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out, "skew       loader wait: p50 %s, p95 %s between the ranks of a step",
		    sp_text_ns(a, ranks->loader_skew_p50_ns),
		    sp_text_ns(b, ranks->loader_skew_p95_ns));
	sp_out_line(out, "           start of a step: p50 %s, p95 %s",
		    sp_text_ns(a, ranks->start_skew_p50_ns),
		    sp_text_ns(b, ranks->start_skew_p95_ns));
}

/* Hosts are told by the first of their ranks. */
static bool is_first_of_host(const struct sp_report *report, uint32_t i)
{
	const struct sp_rank *list = report->ranks.list;

	if (!list[i].is_compared)
		return false;
	for (uint32_t k = 0; k < i; k++)
		if (list[k].is_compared &&
		    image_of(report, &list[k])->host == image_of(report, &list[i])->host)
			return false;
	return true;
}

static uint32_t hosts_of(const struct sp_report *report)
{
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < report->ranks.count; i++)
		hosts += is_first_of_host(report, i);
	return hosts;
}

static void show_clocks(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;
	const char *head = _("clocks     ");

	if (hosts_of(report) < 2) {
		sp_out_line(out, "clocks     one host, one clock");
		return;
	}
	if (!ranks->by_collectives) {
		sp_out_line(out, "clocks     of %u hosts, by CLOCK_REALTIME; not refined: %s",
			    hosts_of(report), basis_reason(report));
		return;
	}
	for (uint32_t i = 1; i < ranks->count; i++) {
		int64_t ahead = ranks->list[i].clock_ahead_ns;
		char name[HOST_BYTES], first[HOST_BYTES], a[SP_NUMBER_BYTES];

		if (!is_first_of_host(report, i))
			continue;
		host_name(report, &ranks->list[i], name);
		host_name(report, &ranks->list[0], first);
		sp_text_ns(a, (uint64_t)(ahead < 0 ? -ahead : ahead));
		if (ahead < 0)
			sp_out_line(out, "%s%s is %s behind %s, by %u collectives", head, name, a,
				    first, ranks->step_count);
		else
			sp_out_line(out, "%s%s is %s ahead of %s, by %u collectives", head, name, a,
				    first, ranks->step_count);
		head = "           ";
	}
}

static void show_clocks_json(const struct sp_report *report, struct sp_json *j)
{
	const struct sp_ranks *ranks = &report->ranks;

	sp_json_open(j, "clocks", '[');
	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct sp_host *host =
			&report->index.hosts[image_of(report, &ranks->list[i])->host];

		if (!is_first_of_host(report, i))
			continue;
		sp_json_open(j, NULL, '{');
		sp_json_string(j, "host", host->name, strnlen(host->name, sizeof(host->name)));
		if (ranks->by_collectives)
			sp_json_signed(j, "ahead_ns", ranks->list[i].clock_ahead_ns);
		else
			sp_json_null(j, "ahead_ns");
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

static void show_json(const struct sp_report *report, struct sp_json *j)
{
	const struct sp_ranks *ranks = &report->ranks;
	const char *reason = ranks->by_collectives ? NULL : basis_reason(report);

	sp_json_open(j, "comparison", '{');
	sp_json_count(j, "steps", ranks->step_count);
	sp_json_count(j, "stragglers", ranks->stragglers);
	sp_json_bool(j, "by_collectives", ranks->by_collectives);
	if (reason)
		sp_json_string(j, "reason", reason, strlen(reason));
	else
		sp_json_null(j, "reason");
	sp_json_count(j, "loader_wait_skew_ns_p50", ranks->loader_skew_p50_ns);
	sp_json_count(j, "loader_wait_skew_ns_p95", ranks->loader_skew_p95_ns);
	sp_json_count(j, "start_skew_ns_p50", ranks->start_skew_p50_ns);
	sp_json_count(j, "start_skew_ns_p95", ranks->start_skew_p95_ns);
	show_clocks_json(report, j);
	sp_json_close(j, '}');
}

static void show_comparison(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;

	if (ranks->compared < 2) {
		if (ranks->compared)
			sp_out_line(out, "one process trains: there is nothing to compare");
		else
			sp_out_line(out, "no process trains: no optimizer step was seen");
		if (out->format == SP_FORMAT_JSON)
			sp_json_null(&out->json, "comparison");
		return;
	}
	if (out->format == SP_FORMAT_JSON) {
		show_json(report, &out->json);
		return;
	}
	show_stragglers(report, out);
	show_basis(report, out);
	show_skew(report, out);
	show_clocks(report, out);
	if (ranks->compared != ranks->count)
		sp_out_line(out, "           %u more threads train, of ranks that have another with more steps",
			    ranks->count - ranks->compared);
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

static const struct sp_sort_key keys[] = {
	{"rank", by_rank}, {"behind", by_behind}, {"loader_wait", by_loader}};

int sp_view_ranks(const struct sp_report *report, struct sp_out *out,
		  const struct sp_view_options *options)
{
	const struct sp_ranks *ranks = &report->ranks;
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options->sort);
	uint32_t *order = key ? sp_order_by(ranks->count, key->value, ranks) : NULL;
	int r = !key ? -EINVAL : !order ? -ENOMEM : 0;

	if (r == 0) {
		sp_run_json(report, out);
		show_comparison(report, out);
		r = sp_out_table(out, "ranks", NULL, columns, CELLS, true);
	}
	for (uint32_t i = 0; r == 0 && i < ranks->count && i < options->limit; i++)
		r = show_rank(report, out, &ranks->list[order[i]]);
	if (r == 0) {
		sp_out_table_end(out);
		sp_view_more(out, ranks->count > options->limit ? ranks->count - options->limit : 0);
	}
	free(order);
	return r;
}
