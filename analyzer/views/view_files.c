/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/each.h"
#include "analyzer/views/view.h"

#include <errno.h>

#include "analyzer/text/text.h"
#include "analyzer/views/run_json.h"

#define SORT_BYTES (2 * SP_NUMBER_BYTES + 64u)

/* The sorts of file that a reader who asks for data does not mean. */
enum sort {
	SORT_DATA,
	SORT_NET,     /* sockets of the internet, by peer */
	SORT_IPC,     /* pipes, other sockets, shared memory of tensors */
	SORT_PROGRAM, /* Python's modules, libraries, the kernel's files */
	SORTS
};

struct files {
	const struct sp_report *report;
	bool is_brief; /* for people: data and peers alone, unless there are none */
	uint64_t (*value)(const void *context, uint32_t i);
};

static enum sort sort_of(const struct sp_report *report, uint32_t i)
{
	static const char *const ipc[] = {"pipe:[",    "socket:[",    "anon_inode:",
					  "/dev/shm/", "/memfd:",     "(pipe)",
					  "(socket)",  "(anonymous)", "unix:"};
	static const char *const program[] = {"/proc/", "/sys/", "/dev/", "/etc/", "/usr/lib/"};
	static const char *const program_ends[] = {".py", ".pyc", ".pyd", ".so", ".pth"};
	static const struct sp_file_metadata regular = {.type = SP_FILE_REGULAR};
	size_t bytes;
	const char *name = sp_string_table_text(&report->run.metadata.files, i, &bytes);

	if (sp_text_begins(name, bytes, "net:") || sp_text_begins(name, bytes, "(network"))
		return SORT_NET;
	for (size_t k = 0; k < sizeof(ipc) / sizeof(ipc[0]); k++)
		if (sp_text_begins(name, bytes, ipc[k]))
			return SORT_IPC;
	for (size_t k = 0; k < sizeof(program) / sizeof(program[0]); k++)
		if (sp_text_begins(name, bytes, program[k]))
			return SORT_PROGRAM;
	for (size_t k = 0; k < sizeof(program_ends) / sizeof(program_ends[0]); k++)
		if (sp_text_ends(name, bytes, program_ends[k]))
			return SORT_PROGRAM;
	return sp_fd_kind_of(&regular, name, bytes) == SP_FD_KIND_IMPORT ? SORT_PROGRAM : SORT_DATA;
}

static bool is_touched(const struct sp_report *report, uint32_t i)
{
	const struct sp_file_sums *f = &report->totals.partial.files[i];

	return f->opens || f->reads || f->maps || f->writes || f->other_ns || f->mapped_reads;
}

static bool is_shown(const void *context, uint32_t i)
{
	const struct files *files = context;

	return is_touched(files->report, i) &&
	       !(files->is_brief && sort_of(files->report, i) > SORT_NET);
}

static bool has_unseen(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->totals.partial.file_count; i++) {
		const struct sp_file_sums *f = &report->totals.partial.files[i];

		if (f->streams && !(f->reads && f->writes))
			return true;
	}
	return false;
}

#define COLUMNS(X)                                                                                 \
	X(NULL, N_("file"), TEXT, text)                                                            \
	X("name", NULL, TEXT, text)                                                                \
	X("file_system", N_("on"), TEXT, sp_cell_text(place))                                      \
	X("opens", N_("opens"), COUNT, sp_cell_count(f->opens))                                    \
	X("reads", N_("reads"), COUNT, sp_cell_if(has_reads, f->reads))                            \
	X("read_ns", N_("reading"), NS, sp_cell_if(has_reads, f->read_ns))                         \
	X("read_bytes", N_("read"), BYTES, sp_cell_if(has_reads, f->read_bytes))                   \
	X("read_bytes_per_s", N_("MB/s"), RATE,                                                    \
	  has_reads ? sp_cell_rate(f->read_bytes, f->read_ns) : sp_cell_null())                    \
	X("slow_reads", NULL, COUNT, sp_cell_if(has_reads, f->slow_reads))                         \
	X("slow_read_ns", N_("slow"), NS, sp_cell_if(has_reads, f->slow_read_ns))                  \
	X("slow_read_bytes", NULL, BYTES, sp_cell_if(has_reads, f->slow_read_bytes))               \
	X("maps", NULL, COUNT, sp_cell_count(f->maps))                                             \
	X("mapped_bytes", N_("mapped"), BYTES, sp_cell_count(f->mapped_bytes))                     \
	X("mapped_reads", NULL, COUNT, sp_cell_count(f->mapped_reads))                             \
	X("mapped_read_ns", N_("page reads"), NS, sp_cell_count(f->mapped_read_ns))                \
	X("writes", NULL, COUNT, sp_cell_if(has_writes, f->writes))                                \
	X("write_ns", N_("writing"), NS, sp_cell_if(has_writes, f->write_ns))                      \
	X("written_bytes", N_("written"), BYTES, sp_cell_if(has_writes, f->write_bytes))           \
	X("other_ns", N_("open, close"), NS, sp_cell_count(f->other_ns))                           \
	X("wait_ns", NULL, NS, sp_cell_count(f->wait_ns))

static const struct sp_column columns[] = {COLUMNS(SP_COLUMN)};

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sp_report *report = ((const struct files *)context)->report;
	const struct sp_file_sums *f = &report->totals.partial.files[i];
	const char *place = sp_metadata_file_system(&report->run.metadata, i);
	size_t bytes;
	const char *name = sp_string_table_text(&report->run.metadata.files, i, &bytes);
	struct sp_cell text = i == SP_STRINGS_REST ? sp_cell_text(_("(the rest, and unknown "
								    "files)"))
			      : bytes		   ? sp_cell_bytes(name, bytes)
						   : sp_cell_text(_("(no name)"));
	/* A count that was not recorded is null, not 0. */
	bool has_reads = !f->streams || f->reads, has_writes = !f->streams || f->writes;
	const struct sp_cell cells[] = {COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

static const struct sp_file_sums *file_of(const struct files *files, uint32_t i)
{
	return &files->report->totals.partial.files[i];
}

SP_VALUE(by_total, struct files,
	 file_of(rows, i)->read_ns + file_of(rows, i)->mapped_read_ns + file_of(rows, i)->write_ns +
		 file_of(rows, i)->other_ns)
SP_VALUE(by_read, struct files, file_of(rows, i)->read_bytes)
SP_VALUE(by_reads, struct files, file_of(rows, i)->reads)
SP_VALUE(by_written, struct files, file_of(rows, i)->write_bytes)
SP_VALUE(by_opens, struct files, file_of(rows, i)->opens)
SP_VALUE(by_slow, struct files, file_of(rows, i)->slow_read_ns)
SP_VALUE(by_mapped, struct files, file_of(rows, i)->mapped_bytes)

/* Data comes before peers, and what has no name of its own comes last. */
static uint64_t brief_value(const void *context, uint32_t i)
{
	const struct files *files = context;
	uint64_t value = files->value(context, i);

	if (i == SP_STRINGS_REST)
		return 0;
	value = value < INT64_MAX ? value : INT64_MAX;
	return sort_of(files->report, i) == SORT_DATA ? value | UINT64_C(1) << 63 : value;
}

static const struct sp_sort_key keys[] = {
	{"total", "total_ns", N_("total"), by_total},
	{"read", "read_bytes", N_("read"), by_read},
	{"reads", "reads", N_("reads"), by_reads},
	{"written", "written_bytes", N_("written"), by_written},
	{"opens", "opens", N_("opens"), by_opens},
	{"slow", "slow_read_ns", N_("slow"), by_slow},
	{"mapped", "mapped_bytes", N_("mapped"), by_mapped},
};

/* The files of each sort, and the time in calls on them. */
struct sort_sums {
	uint32_t files[SORTS];
	uint64_t ns[SORTS];
};

static struct sort_sums sum_sorts(const struct files *files)
{
	struct sort_sums sums = {.files = {0}};

	for (uint32_t i = 0; i < files->report->totals.partial.file_count; i++) {
		enum sort sort = sort_of(files->report, i);

		if (!is_touched(files->report, i))
			continue;
		sums.files[sort]++;
		sums.ns[sort] += by_total(files, i);
	}
	return sums;
}

static bool has_files(const struct sort_sums *sums)
{
	return SP_ANY(sort, SORTS, sums->files[sort]);
}

/* "257 ms in 481 files" */
static const char *sort_text(const struct sort_sums *sums, enum sort sort, char ret[SORT_BYTES])
{
	char ns[SP_NUMBER_BYTES], files[SP_NUMBER_BYTES];

	snprintf(ret, SORT_BYTES,
		 sp_translate_plural("%s in %s file", "%s in %s files", sums->files[sort]),
		 sp_text_ns(ns, sums->ns[sort]), sp_text_count(files, sums->files[sort]));
	return ret;
}

static void show_other_sorts(const struct sort_sums *sums, struct sp_out *out)
{
	char a[SORT_BYTES], b[SORT_BYTES];

	if (sums->files[SORT_IPC] || sums->files[SORT_PROGRAM])
		sp_out_line(out,
			    "not in the table (--all): pipes, sockets and shared memory: %s; "
			    "programs and Python: %s",
			    sort_text(sums, SORT_IPC, a), sort_text(sums, SORT_PROGRAM, b));
}

int sp_view_files(const struct sp_report *report, struct sp_out *out,
		  const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	struct files files = {.report = report};
	struct sp_view_rows rows = {"files",
				    SP_COLUMNS_OF(columns),
				    .count = report->totals.partial.file_count,
				    .is_shown = is_shown,
				    .show = show_row,
				    .context = &files};
	struct sort_sums sums;
	int r;

	if (!key)
		return -EINVAL;
	rows.value = key->value;
	sums = sum_sorts(&files);
	files.is_brief = sp_out_is_read(out) && !out->is_part && !options->is_full &&
			 (sums.files[SORT_DATA] || sums.files[SORT_NET]);
	files.value = key->value;
	if (files.is_brief)
		rows.value = brief_value;
	sp_run_json(report, out);
	r = sp_view_rows_show(&rows, out, options->limit);
	if (r == 0 && !has_files(&sums))
		sp_out_line(out, "no files: no call on a file was seen, or none is selected");
	if (r == 0 && files.is_brief)
		show_other_sorts(&sums, out);
	if (r == 0 && sp_index_has_digested(&report->run.index))
		sp_out_line(out,
			    "of digests: the %u files of each thread with most time; the others "
			    "are "
			    "in the rest",
			    SP_TOP_FILES);
	if (r == 0 && has_unseen(report))
		sp_out_line(out, "-: the file was opened by fopen, and reads and writes of lines "
				 "or characters are not recorded");
	return r;
}
