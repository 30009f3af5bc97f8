#include "analyzer/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct sp_view sp_views[] = {
#define SP_VIEW(name, needs, help) {#name, help, needs, sp_view_##name},
#include "analyzer/views.def"
#undef SP_VIEW
};
const unsigned sp_view_count = sizeof(sp_views) / sizeof(sp_views[0]);

const struct sp_view *sp_view_find(const char *name)
{
	for (unsigned i = 0; i < sp_view_count; i++)
		if (strcmp(sp_views[i].name, name) == 0)
			return &sp_views[i];
	return NULL;
}

const struct sp_sort_key *sp_sort_find(const struct sp_sort_key *keys, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!name || strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

void sp_view_more(struct sp_out *out, uint32_t left_out)
{
	if (left_out)
		sp_out_line(out,
			    out->format == SP_FORMAT_HTML
				    ? _("%u more rows are not on this page.")
				    : _("%u more rows: --limit=all"),
			    left_out);
}

struct rank {
	uint64_t value;
	uint32_t number;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

uint32_t *sp_order_by(uint32_t n, uint64_t (*value)(const void *context, uint32_t i),
		      const void *context)
{
	struct rank *ranks = calloc(n + 1u, sizeof(*ranks));
	uint32_t *order = calloc(n + 1u, sizeof(*order));

	for (uint32_t i = 0; ranks && order && i < n; i++)
		ranks[i] = (struct rank){value(context, i), i};
	if (!ranks || !order) {
		free(order);
		order = NULL;
	} else {
		qsort(ranks, n, sizeof(*ranks), compare_ranks);
		for (uint32_t i = 0; i < n; i++)
			order[i] = ranks[i].number;
	}
	free(ranks);
	return order;
}

int sp_view_rows_show(const struct sp_view_rows *rows, struct sp_out *out, uint32_t limit)
{
	uint32_t *order = sp_order_by(rows->count, rows->value, rows->context);
	uint32_t shown = 0;
	int r = order ? sp_out_table(out, rows->name, NULL, rows->columns, rows->cells, true) : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < rows->count; i++) {
		if (rows->is_shown && !rows->is_shown(rows->context, order[i]))
			continue;
		if (shown++ < limit)
			r = rows->show(rows->context, out, order[i]);
	}
	if (order) {
		sp_out_table_end(out);
		sp_view_more(out, shown > limit ? shown - limit : 0);
	}
	free(order);
	return r;
}
