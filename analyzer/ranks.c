#include "analyzer/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report.h"

/* Of one step, or of all steps of one rank: values to be put in order. */
struct ordered {
	int64_t value;
	uint32_t rank;
};

struct work {
	const struct sp_report *report;
	struct sp_ranks *ranks;
	uint32_t *at;		/* indices into ranks->list of those compared */
	struct ordered *row;	/* of one step, as many as ranks */
	int64_t *values, *more; /* as many as steps */
};

static const struct sp_image *image_of(const struct sp_report *report, const struct sp_rank *rank)
{
	const struct sp_trainer *t = &report->training.trainers[rank->trainer];

	return &report->index.images[report->index.streams[t->stream]->image];
}

static const struct sp_steps *steps_of(const struct work *w, uint32_t k)
{
	return &w->report->training.trainers[w->ranks->list[w->at[k]].trainer].steps;
}

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sorts the values. The one of rank ceil(n * percent / 100). */
static int64_t quantile(int64_t *values, uint32_t n, unsigned percent)
{
	qsort(values, n, sizeof(*values), compare_values);
	return n ? values[((uint64_t)n * percent + 99) / 100 - 1] : 0;
}

/* The median of all but the k-th of n sorted values, n > 1. */
static int64_t median_without(const struct ordered *row, uint32_t n, uint32_t k)
{
	uint32_t low = (n - 2) / 2, high = (n - 1) / 2;
	int64_t a = row[low + (low >= k)].value, b = row[high + (high >= k)].value;

	return a + (b - a) / 2;
}

/* Fills one step's row, in order, with what `value` says of each rank. */
static void fill_row(struct work *w, uint32_t step,
		     int64_t (*value)(const struct work *w, uint32_t k, uint32_t step, int part),
		     int part)
{
	for (uint32_t k = 0; k < w->ranks->compared; k++)
		w->row[k] = (struct ordered){value(w, k, step, part), k};
	qsort(w->row, w->ranks->compared, sizeof(*w->row), compare_ordered);
}

static int64_t part_of(const struct work *w, uint32_t k, uint32_t step, int part)
{
	return (int64_t)steps_of(w, k)->steps[step].account.ns[part];
}

static int64_t wall_of(const struct work *w, uint32_t k, uint32_t step, int part)
{
	const struct sp_step *s = &steps_of(w, k)->steps[step];

	(void)part;
	return s->end_ns - s->start_ns;
}

static int64_t start_of(const struct work *w, uint32_t k, uint32_t step, int part)
{
	(void)part;
	return steps_of(w, k)->steps[step].start_ns - w->ranks->list[w->at[k]].clock_ahead_ns;
}

/* How late a rank comes to where all wait, on a scale that has no zero of its own. */
static int64_t lateness_of(const struct work *w, uint32_t k, uint32_t step, int part)
{
	const struct sp_collective *c;

	if (!w->ranks->by_collectives)
		return wall_of(w, k, step, part) - part_of(w, k, step, SP_ACCOUNT_backward) -
		       part_of(w, k, step, SP_ACCOUNT_grad_sync);
	c = &w->ranks->list[w->at[k]].collectives[step];
	return c->start_ns - c->end_ns;
}

static bool all_have_collective(const struct work *w, uint32_t step)
{
	for (uint32_t k = 0; k < w->ranks->compared; k++)
		if (w->ranks->list[w->at[k]].collectives[step].end_ns == 0)
			return false;
	return true;
}

static bool all_select(const struct work *w, uint32_t step)
{
	for (uint32_t k = 0; k < w->ranks->compared; k++) {
		const struct sp_rank *rank = &w->ranks->list[w->at[k]];

		if (!sp_step_is_selected(w->report, &w->report->training.trainers[rank->trainer],
					 step))
			return false;
	}
	return true;
}

/* Steps of the same number are taken together. Those with a collective tell more, where most have one. */
static void choose_steps(struct work *w)
{
	uint32_t common = UINT32_MAX, n = 0, with = 0;

	for (uint32_t k = 0; k < w->ranks->compared; k++)
		common = steps_of(w, k)->count < common ? steps_of(w, k)->count : common;
	for (uint32_t step = 0; w->ranks->compared && step < common; step++) {
		if (!all_select(w, step))
			continue;
		w->ranks->steps[n++] = step;
		with += all_have_collective(w, step);
	}
	w->ranks->by_collectives = with && with >= n / 2;
	for (uint32_t i = 0; i < n; i++)
		if (!w->ranks->by_collectives || all_have_collective(w, w->ranks->steps[i]))
			w->ranks->steps[w->ranks->step_count++] = w->ranks->steps[i];
}

/* All hosts leave a collective at once: the median difference of their clocks then is what one is ahead. */
static void refine_clocks(struct work *w)
{
	const struct sp_rank *first = &w->ranks->list[w->at[0]];

	for (uint32_t k = 1; w->ranks->by_collectives && k < w->ranks->compared; k++) {
		struct sp_rank *rank = &w->ranks->list[w->at[k]];

		if (image_of(w->report, rank)->host == image_of(w->report, first)->host)
			continue;
		for (uint32_t i = 0; i < w->ranks->step_count; i++) {
			uint32_t step = w->ranks->steps[i];

			w->values[i] =
				rank->collectives[step].end_ns - first->collectives[step].end_ns;
		}
		rank->clock_ahead_ns = quantile(w->values, w->ranks->step_count, 50);
	}
}

static void measure_rank(struct work *w, uint32_t k)
{
	struct sp_rank *rank = &w->ranks->list[w->at[k]];
	uint32_t n = w->ranks->step_count;

	for (uint32_t i = 0; i < n; i++) {
		w->values[i] = wall_of(w, k, w->ranks->steps[i], 0);
		w->more[i] = part_of(w, k, w->ranks->steps[i], SP_ACCOUNT_loader_wait);
	}
	rank->wall_p50_ns = (uint64_t)quantile(w->values, n, 50);
	rank->loader_p50_ns = (uint64_t)quantile(w->more, n, 50);
}

/* How far the rank is behind the others in `value`, in the median over the steps; *ret_steps: in how many
 * it is behind at all. */
static int64_t behind(struct work *w, uint32_t k,
		      int64_t (*value)(const struct work *w, uint32_t k, uint32_t step, int part),
		      int part, uint32_t *ret_steps)
{
	*ret_steps = 0;
	for (uint32_t i = 0; i < w->ranks->step_count; i++) {
		uint32_t at = 0;

		fill_row(w, w->ranks->steps[i], value, part);
		while (w->row[at].rank != k)
			at++;
		w->values[i] = w->row[at].value - median_without(w->row, w->ranks->compared, at);
		*ret_steps += w->values[i] > 0;
	}
	return quantile(w->values, w->ranks->step_count, 50);
}

/* Backward holds the wait for the others, which is no cause. */
static void find_cause(struct work *w, uint32_t k)
{
	struct sp_rank *rank = &w->ranks->list[w->at[k]];
	uint32_t steps;

	rank->cause = SP_ACCOUNT_backward;
	for (int part = 0; part < SP_ACCOUNT_PARTS; part++) {
		int64_t ns = 0;

		if (part != SP_ACCOUNT_backward && part != SP_ACCOUNT_grad_sync)
			ns = behind(w, k, part_of, part, &steps);
		if (ns <= rank->cause_p50_ns)
			continue;
		rank->cause = (enum sp_account_part)part;
		rank->cause_p50_ns = ns;
	}
	/* What no other part explains is backward's own. */
	if (2 * rank->cause_p50_ns < rank->behind_p50_ns) {
		rank->cause = SP_ACCOUNT_backward;
		rank->cause_p50_ns = rank->behind_p50_ns - rank->cause_p50_ns;
	}
}

static void judge_rank(struct work *w, uint32_t k)
{
	struct sp_rank *rank = &w->ranks->list[w->at[k]];
	uint32_t n = w->ranks->step_count, steps;

	rank->behind_p50_ns = behind(w, k, lateness_of, 0, &steps);
	for (uint32_t i = 0; i < n; i++) {
		fill_row(w, w->ranks->steps[i], lateness_of, 0);
		w->values[i] = w->row[w->ranks->compared - 1].value -
			       lateness_of(w, k, w->ranks->steps[i], 0);
		rank->last_in += w->row[w->ranks->compared - 1].rank == k;
	}
	rank->wait_p50_ns = (uint64_t)quantile(w->values, n, 50);
	rank->is_straggler =
		n >= SP_RANKS_STEPS_MIN && 3 * (uint64_t)steps >= 2 * (uint64_t)n &&
		(double)rank->behind_p50_ns >= SP_STRAGGLER_SHARE * (double)rank->wall_p50_ns;
	w->ranks->stragglers += rank->is_straggler;
	if (rank->is_straggler)
		find_cause(w, k);
}

static void measure_skew(struct work *w)
{
	uint32_t n = w->ranks->step_count, last = w->ranks->compared - 1;

	for (uint32_t i = 0; i < n; i++) {
		fill_row(w, w->ranks->steps[i], part_of, SP_ACCOUNT_loader_wait);
		w->values[i] = w->row[last].value - w->row[0].value;
		fill_row(w, w->ranks->steps[i], start_of, 0);
		w->more[i] = w->row[last].value - w->row[0].value;
	}
	w->ranks->loader_skew_p50_ns = (uint64_t)quantile(w->values, n, 50);
	w->ranks->loader_skew_p95_ns = (uint64_t)quantile(w->values, n, 95);
	w->ranks->start_skew_p50_ns = (uint64_t)quantile(w->more, n, 50);
	w->ranks->start_skew_p95_ns = (uint64_t)quantile(w->more, n, 95);
}

static void compare_ranks(struct work *w)
{
	choose_steps(w);
	if (w->ranks->compared == 0 || w->ranks->step_count == 0)
		return;
	for (uint32_t k = 0; k < w->ranks->compared; k++)
		measure_rank(w, k);
	if (w->ranks->compared < 2)
		return;
	refine_clocks(w);
	for (uint32_t k = 0; k < w->ranks->compared; k++)
		judge_rank(w, k);
	measure_skew(w);
}

/* Ranks in their order, those that tell none behind the others; then as the trainers come. */
static uint64_t place_of(const struct sp_report *report, uint32_t trainer)
{
	struct sp_rank rank = {.trainer = trainer};
	uint64_t number = image_of(report, &rank)->rank;

	return number ? number : UINT64_MAX;
}

static void list_ranks(struct sp_ranks *ranks, const struct sp_report *report)
{
	for (uint32_t t = 0; t < report->training.count; t++) {
		uint32_t i = ranks->count++;

		for (; i && place_of(report, ranks->list[i - 1].trainer) > place_of(report, t); i--)
			ranks->list[i] = ranks->list[i - 1];
		ranks->list[i] = (struct sp_rank){.trainer = t};
	}
}

/* A job that was begun anew, or a second thread that trains: the longest of each rank is compared. */
static void choose_compared(struct work *w)
{
	const struct sp_report *report = w->report;
	struct sp_ranks *ranks = w->ranks;

	for (uint32_t i = 0; i < ranks->count; i++) {
		uint32_t best = i, next = i + 1;
		uint64_t number = image_of(report, &ranks->list[i])->rank;

		for (; number && next < ranks->count; next++) {
			if (image_of(report, &ranks->list[next])->rank != number)
				break;
			if (report->training.trainers[ranks->list[next].trainer].steps.count >
			    report->training.trainers[ranks->list[best].trainer].steps.count)
				best = next;
		}
		ranks->list[best].is_compared = true;
		w->at[ranks->compared++] = best;
		i = next - 1;
	}
}

static int work_init(struct work *w)
{
	const struct sp_training *training = &w->report->training;
	uint32_t most = 0;

	for (uint32_t t = 0; t < training->count; t++)
		most = training->trainers[t].steps.count > most ? training->trainers[t].steps.count
								: most;
	w->ranks->list = calloc(training->count + 1u, sizeof(*w->ranks->list));
	w->ranks->steps = calloc(most + 1u, sizeof(*w->ranks->steps));
	w->at = calloc(training->count + 1u, sizeof(*w->at));
	w->row = calloc(training->count + 1u, sizeof(*w->row));
	w->values = calloc(most + 1u, sizeof(*w->values));
	w->more = calloc(most + 1u, sizeof(*w->more));
	if (!w->ranks->list || !w->ranks->steps || !w->at || !w->row || !w->values || !w->more)
		return -ENOMEM;
	return 0;
}

static void work_finish(struct work *w)
{
	free(w->at);
	free(w->row);
	free(w->values);
	free(w->more);
}

int sp_ranks_read(struct sp_ranks *ranks, const struct sp_report *report)
{
	struct work w = {.report = report, .ranks = ranks};
	int r;

	*ranks = (struct sp_ranks){.list = NULL};
	r = work_init(&w);
	if (r == 0)
		list_ranks(ranks, report);
	for (uint32_t i = 0; r == 0 && i < ranks->count; i++)
		r = sp_collectives_read(report, ranks->list[i].trainer,
					&ranks->list[i].collectives);
	if (r == 0) {
		choose_compared(&w);
		compare_ranks(&w);
	}
	work_finish(&w);
	return r;
}

void sp_ranks_finish(struct sp_ranks *ranks)
{
	for (uint32_t i = 0; ranks->list && i < ranks->count; i++)
		free(ranks->list[i].collectives);
	free(ranks->list);
	free(ranks->steps);
	*ranks = (struct sp_ranks){.list = NULL};
}
