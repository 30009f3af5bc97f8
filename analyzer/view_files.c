#include "analyzer/view.h"

#include <errno.h>
#include <stdlib.h>

enum {
	NAME,
	FILE_SYSTEM,
	OPENS,
	READS,
	READ_NS,
	READ,
	RATE,
	SLOW_READS,
	SLOW_NS,
	SLOW,
	MAPS,
	MAPPED,
	WRITES,
	WRITE_NS,
	WRITTEN,
	OTHER,
	WAIT,
	TITLE,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[NAME] = {"name", NULL, SP_CELL_TEXT},
	[FILE_SYSTEM] = {"file_system", N_("on"), SP_CELL_TEXT},
	[OPENS] = {"opens", N_("opens"), SP_CELL_COUNT},
	[READS] = {"reads", N_("reads"), SP_CELL_COUNT},
	[READ_NS] = {"read_ns", N_("reading"), SP_CELL_NS},
	[READ] = {"read_bytes", N_("read"), SP_CELL_BYTES},
	[RATE] = {"read_bytes_per_s", N_("MB/s"), SP_CELL_RATE},
	[SLOW_READS] = {"slow_reads", NULL, SP_CELL_COUNT},
	[SLOW_NS] = {"slow_read_ns", N_("slow"), SP_CELL_NS},
	[SLOW] = {"slow_read_bytes", NULL, SP_CELL_BYTES},
	[MAPS] = {"maps", NULL, SP_CELL_COUNT},
	[MAPPED] = {"mapped_bytes", N_("mapped"), SP_CELL_BYTES},
	[WRITES] = {"writes", NULL, SP_CELL_COUNT},
	[WRITE_NS] = {"write_ns", N_("writing"), SP_CELL_NS},
	[WRITTEN] = {"written_bytes", N_("written"), SP_CELL_BYTES},
	[OTHER] = {"other_ns", N_("open, close"), SP_CELL_NS},
	[WAIT] = {"wait_ns", NULL, SP_CELL_NS},
	[TITLE] = {NULL, N_("file"), SP_CELL_TEXT},
};

static bool is_touched(const void *context, uint32_t i)
{
	const struct sp_report *report = context;
	const struct sp_file_sums *f = &report->part.files[i];

	return f->opens || f->reads || f->maps || f->writes || f->other_ns;
}

/* What was not seen is not 0. */
static void leave_unseen(struct sp_cell cells[CELLS], const struct sp_file_sums *f)
{
	static const uint8_t of_reads[] = {READS, READ_NS, READ, RATE, SLOW_READS, SLOW_NS, SLOW};
	static const uint8_t of_writes[] = {WRITES, WRITE_NS, WRITTEN};

	for (size_t i = 0; f->streams && !f->reads && i < sizeof(of_reads); i++)
		cells[of_reads[i]] = sp_cell_null();
	for (size_t i = 0; f->streams && !f->writes && i < sizeof(of_writes); i++)
		cells[of_writes[i]] = sp_cell_null();
}

static bool has_unseen(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->part.file_count; i++) {
		const struct sp_file_sums *f = &report->part.files[i];

		if (f->streams && !(f->reads && f->writes))
			return true;
	}
	return false;
}

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sp_report *report = context;
	const struct sp_file_sums *f = &report->part.files[i];
	const char *place = sp_facts_file_system(&report->facts, i);
	size_t bytes;
	const char *name = sp_names_text(&report->facts.files, i, &bytes);
	struct sp_cell text = i == SP_NAMES_REST ? sp_cell_text(_("(the rest, and unknown files)"))
			      : bytes		 ? sp_cell_bytes(name, bytes)
						 : sp_cell_text(_("(no name)"));
	struct sp_cell cells[CELLS] = {
		[NAME] = text,
		[FILE_SYSTEM] = place ? sp_cell_text(place) : sp_cell_null(),
		[OPENS] = sp_cell_count(f->opens),
		[READS] = sp_cell_count(f->reads),
		[READ_NS] = sp_cell_count(f->read_ns),
		[READ] = sp_cell_count(f->read_bytes),
		[RATE] = sp_cell_rate(f->read_bytes, f->read_ns),
		[SLOW_READS] = sp_cell_count(f->slow_reads),
		[SLOW_NS] = sp_cell_count(f->slow_read_ns),
		[SLOW] = sp_cell_count(f->slow_read_bytes),
		[MAPS] = sp_cell_count(f->maps),
		[MAPPED] = sp_cell_count(f->mapped_bytes),
		[WRITES] = sp_cell_count(f->writes),
		[WRITE_NS] = sp_cell_count(f->write_ns),
		[WRITTEN] = sp_cell_count(f->write_bytes),
		[OTHER] = sp_cell_count(f->other_ns),
		[WAIT] = sp_cell_count(f->wait_ns),
		[TITLE] = text,
	};

	leave_unseen(cells, f);
	return sp_out_row(out, cells);
}

static uint64_t by_total(const void *context, uint32_t i)
{
	const struct sp_file_sums *f = &((const struct sp_report *)context)->part.files[i];

	return f->read_ns + f->write_ns + f->other_ns;
}

static uint64_t by_read(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->part.files[i].read_bytes;
}

static uint64_t by_reads(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->part.files[i].reads;
}

static uint64_t by_written(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->part.files[i].write_bytes;
}

static uint64_t by_opens(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->part.files[i].opens;
}

static uint64_t by_slow(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->part.files[i].slow_read_ns;
}

static uint64_t by_mapped(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->part.files[i].mapped_bytes;
}

static const struct sp_sort_key keys[] = {
	{"total", by_total},	 {"read", by_read},   {"reads", by_reads},
	{"written", by_written}, {"opens", by_opens}, {"slow", by_slow}, {"mapped", by_mapped},
};

int sp_view_files(const struct sp_report *report, struct sp_out *out,
		  const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options->sort);
	struct sp_view_rows rows = {"files", columns, CELLS, report->part.file_count,
				    .is_shown = is_touched, .show = show_row, .context = report};
	int r;

	if (!key)
		return -EINVAL;
	rows.value = key->value;
	sp_run_json(report, out);
	r = sp_view_rows_show(&rows, out, options->limit);
	if (r == 0 && has_unseen(report))
		sp_out_line(out, "-: of a file opened by fopen, where reading and writing lines or characters is not seen");
	return r;
}
