/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/each.h"
#include "analyzer/views/run_json.h"

const struct sp_view sp_views[] = {
#define SP_VIEW(name, needs, help) {#name, help, needs, sp_view_##name},
#define SP_VIEW_BY(name, view, word, needs) {#name, NULL, needs, sp_view_##name},
#include "analyzer/views/views.def"
};
const unsigned sp_view_count = sizeof(sp_views) / sizeof(sp_views[0]);

const struct sp_view *sp_view_find(const char *name)
{
	for (unsigned i = 0; i < sp_view_count; i++)
		if (strcmp(sp_views[i].name, name) == 0)
			return &sp_views[i];
	return NULL;
}

static const struct {
	const char *view, *word, *shown; /* shown: a name in sp_views */
	int value;
} by_words[] = {
#define SP_VIEW_BY(name, view, word, needs) {#view, #word, #name, 0},
#define SP_BY(view, word, value) {#view, #word, #view, value},
#include "analyzer/views/views.def"
};
#define BY_WORDS (sizeof(by_words) / sizeof(by_words[0]))

const struct sp_view *sp_view_by(const struct sp_view *view, const char *word, int *ret_value)
{
	for (size_t i = 0; i < BY_WORDS; i++) {
		*ret_value = by_words[i].value;
		if (strcmp(by_words[i].view, view->name) == 0 &&
		    strcmp(by_words[i].word, word) == 0)
			return sp_view_find(by_words[i].shown);
	}
	return NULL;
}

void sp_view_by_words(const struct sp_view *view, char *ret, size_t bytes)
{
	size_t used = 0;

	*ret = '\0';
	for (size_t i = 0; i < BY_WORDS && used < bytes; i++)
		if (strcmp(by_words[i].view, view->name) == 0)
			used += (size_t)snprintf(ret + used, bytes - used, "%s%s", used ? ", " : "",
						 by_words[i].word);
}

/* bytes: of each name that are compared; 0: all of it. */
static bool is_called(const struct sp_sort_key *key, const char *name, size_t bytes)
{
	const char *const names[] = {key->name, key->json, key->title, _(key->title)};

	return SP_ANY(i, sizeof(names) / sizeof(names[0]),
		      bytes ? strncasecmp(names[i], name, bytes) == 0
			    : strcasecmp(names[i], name) == 0);
}

static void list_titles(char *ret, const struct sp_sort_key *keys, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; ret && i < n && used < SP_SORT_TITLES_BYTES; i++)
		used += (size_t)snprintf(ret + used, SP_SORT_TITLES_BYTES - used, "%s%s",
					 i ? ", " : "", _(keys[i].title));
}

const struct sp_sort_key *sp_sort_find(const struct sp_sort_key *keys, size_t n,
				       const struct sp_view_options *options)
{
	const struct sp_sort_key *found = NULL;
	const char *name = options->sort;
	uint32_t matches = 0;

	for (size_t i = 0; i < n; i++)
		if (!name || is_called(&keys[i], name, 0))
			return &keys[i];
	for (size_t i = 0; i < n && *name; i++) {
		if (is_called(&keys[i], name, strlen(name))) {
			found = &keys[i];
			matches++;
		}
	}
	if (matches == 1)
		return found;
	list_titles(options->sort_titles, keys, n);
	return NULL;
}

void sp_view_more(struct sp_out *out, uint32_t left_out)
{
	if (left_out)
		sp_out_line(out,
			    out->format == SP_FORMAT_HTML
				    ? sp_translate_plural("%u more row is not on this page.",
							  "%u more rows are not on this page.",
							  left_out)
				    : sp_translate_plural("%u more row: --limit=all",
							  "%u more rows: --limit=all", left_out),
			    left_out);
}

int sp_view_rows_show(struct sp_view_rows *rows, struct sp_out *out, uint32_t limit)
{
	uint32_t *order = sp_order_by(rows->count, rows->value, rows->context);
	int r = order ? sp_out_table(out, rows->name, NULL, rows->columns, rows->cells, true)
		      : -ENOMEM;

	rows->shown = 0;
	for (uint32_t i = 0; r == 0 && i < rows->count; i++) {
		if (rows->is_shown && !rows->is_shown(rows->context, order[i]))
			continue;
		if (rows->shown++ < limit)
			r = rows->show(rows->context, out, order[i]);
	}
	if (order) {
		sp_out_table_end(out);
		sp_view_more(out, rows->shown > limit ? rows->shown - limit : 0);
	}
	free(order);
	return r;
}

int sp_view_sorted_show(struct sp_view_rows *rows, const struct sp_report *report,
			struct sp_out *out, const struct sp_view_options *options)
{
	const struct sp_sort_key *key =
		rows->keys ? sp_sort_find(rows->keys, rows->key_count, options) : NULL;

	if (!key && (rows->keys || options->sort))
		return -EINVAL;
	if (key)
		rows->value = key->value;
	sp_run_json(report, out);
	return sp_view_rows_show(rows, out, options->limit);
}
