/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/totals/thread_end.h"
#include "analyzer/views/run_json.h"

/* Marks the files with a thread that has no end, and did not end with its process.
 * NULL: no memory. */
static bool *find_unended(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;
	bool *ret = calloc(index->file_count + 1u, sizeof(*ret));

	for (uint32_t i = 0; ret && i < index->stream_count; i++) {
		if (sp_thread_end_of(&report->run, &report->totals, i) != SP_THREAD_END_NONE)
			continue;
		for (const struct sp_segment *s = index->streams[i]->segments; s; s = s->next)
			ret[s->file] = true;
	}
	return ret;
}

static const char *state_of(const struct sp_file *f, bool is_unended)
{
	if (f->error)
		return sp_translate_errno(-f->error);
	if (f->damage.places)
		return sp_damage_text(f->damage.what);
	if (f->size_bytes == 0)
		return _("empty");
	if (f->truncated)
		return _("ends early");
	if (f->is_digest)
		return _("a digest");
	if (f->runs && !f->headers)
		return _("the run's marker");
	if (!f->windows)
		return _("clean end");
	return is_unended ? _("no clean end") : _("ended with its process");
}

#define COLUMNS(X)                                                                                 \
	X("path", NULL, TEXT, sp_cell_text(f->path))                                               \
	X("size_bytes", N_("size"), BYTES, sp_cell_count(f->size_bytes))                           \
	X("headers", N_("headers"), COUNT, sp_cell_count(f->headers))                              \
	X("blocks", N_("blocks"), COUNT, sp_cell_count(f->blocks))                                 \
	X("windows", N_("windows"), COUNT, sp_cell_count(f->windows))                              \
	X("free_bytes", N_("free"), BYTES, sp_cell_count(f->free_bytes))                           \
	X("payload_bytes", N_("payload"), BYTES, sp_cell_count(f->payload_bytes))                  \
	X("zstd_bytes", N_("packed"), BYTES, sp_cell_count(f->zstd_bytes))                         \
	X("damaged_places", N_("damaged"), COUNT, sp_cell_count(d->places))                        \
	X("damaged_bytes", NULL, COUNT, sp_cell_count(d->bytes))                                   \
	X("first_damage_at", NULL, COUNT, sp_cell_if(d->places, d->at))                            \
	X("state", N_("state"), TEXT, sp_cell_text(state_of(f, is_unended)))                       \
	X(NULL, N_("file"), TEXT, sp_cell_text(slash ? slash + 1 : f->path))

static const struct sp_column columns[] = {COLUMNS(SP_COLUMN)};

static int show_row(struct sp_out *out, const struct sp_file *f, bool is_unended)
{
	const struct sp_file_damage *d = &f->damage;
	const char *slash = strrchr(f->path, '/');
	const struct sp_cell cells[] = {COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

int sp_view_info(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	bool *unended = find_unended(report);
	int r;

	if (!unended)
		return -ENOMEM;
	sp_run_json(report, out);
	r = sp_out_table(out, "input_files", NULL, SP_COLUMNS_OF(columns), true);
	for (uint32_t i = 0; r == 0 && i < report->run.index.file_count && i < options->limit; i++)
		r = show_row(out, &report->run.index.files[i], unended[i]);
	sp_out_table_end(out);
	if (report->run.index.file_count > options->limit)
		sp_view_more(out, report->run.index.file_count - options->limit);
	free(unended);
	return r;
}
