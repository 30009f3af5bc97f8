/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/views/card.h"
#include "analyzer/sections/ending.h"
#include "analyzer/views/inflight.h"
#include "analyzer/sections/own_cost.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/sections/account_section.h"
#include "analyzer/sections/life_section.h"
#include "analyzer/sections/shown_part.h"
#include "analyzer/sections/wait_section.h"
#include "analyzer/text/text.h"
#include "analyzer/metrics/metrics.h"

#define LINE_BYTES 1024u
#define TALLY_LINES_MAX 20u

static void show_hosts(const struct sp_report *report, struct sp_out *out)
{
	char name[LINE_BYTES];

	for (uint32_t i = 0; i < report->run.index.host_count && i < 4; i++) {
		const struct sp_host *h = &report->run.index.hosts[i];

		sp_text_escape(name, sizeof(name), h->name, strnlen(h->name, sizeof(h->name)));
		sp_out_line(out, "host       %s", name);
	}
	if (report->run.index.host_count > 4)
		sp_out_line(out, "           and %u more", report->run.index.host_count - 4);
}

static void show_command(const struct sp_report *report, struct sp_out *out)
{
	char line[LINE_BYTES], words[LINE_BYTES];

	for (uint32_t i = 0; i < report->run.index.image_count; i++) {
		const struct sp_process_metadata *image = &report->run.metadata.images[i];
		size_t n = image->command_bytes < sizeof(words) ? image->command_bytes
								: sizeof(words) - 1;

		if (!image->command)
			continue;
		memcpy(words, image->command, n);
		while (n && words[n - 1] == '\0')
			n--;
		for (size_t k = 0; k < n; k++)
			words[k] = words[k] ? words[k] : ' ';
		sp_text_escape(line, sizeof(line), words, n);
		sp_out_line(out, "command    %s", line);
		return;
	}
}

static void show_totals(const struct sp_report *report, struct sp_out *out)
{
	struct sp_traffic traffic = sp_stages_traffic(report->totals.stages);
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out, "duration   %s",
		    sp_text_ns(a, (uint64_t)(report->totals.end_ns - report->run.begin_ns)));
	sp_out_line(out, "processes  %s, threads %s", sp_text_count(a, report->totals.processes),
		    sp_text_count(b, report->totals.threads));
	sp_out_line(out, "events     %s", sp_text_count(a, report->totals.events));
	sp_out_line(out, "files      %s read, %s written", sp_text_bytes(a, traffic.read_bytes),
		    sp_text_bytes(b, traffic.written_bytes));
	if (traffic.received_bytes || traffic.sent_bytes)
		sp_out_line(out, "network    %s received, %s sent (the view stages)",
			    sp_text_bytes(a, traffic.received_bytes),
			    sp_text_bytes(b, traffic.sent_bytes));
}

static void show_cause(struct sp_out *out, uint64_t n, const char *cause)
{
	char a[SP_NUMBER_BYTES];

	if (n)
		sp_out_line(out, "           %s %s", sp_text_count(a, n), _(cause));
}

static void show_part(const struct sp_report *report, struct sp_out *out)
{
	char text[LINE_BYTES];

	if (sp_selection_text(report, text, sizeof(text)))
		sp_out_line(out, "only       %s; the lines below are of the whole run", text);
}

static void show_off(const struct sp_report *report, struct sp_out *out)
{
	char text[LINE_BYTES];

	if (sp_off_text(report, text, sizeof(text)))
		sp_out_line(out, "off        %s", text);
}

/* Threads that still run when their process ends are the usual case. */
static void show_ends(const struct sp_report *report, struct sp_out *out)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_text_count(a, report->totals.threads - report->totals.not_ended -
				 report->totals.ended_with_process);
	sp_text_count(b, report->totals.threads);
	sp_text_count(c, report->totals.ended_with_process);
	if (report->totals.not_ended && report->totals.ended_with_process)
		sp_out_line(out,
			    "ended      %s of %s threads, %s more with their process; the others "
			    "were killed, or still run",
			    a, b, c);
	else if (report->totals.not_ended)
		sp_out_line(out,
			    sp_translate_plural("ended      %s of %s thread; it was killed, or "
						"still runs",
						"ended      %s of %s threads; the others were "
						"killed, or still run",
						report->totals.threads),
			    a, b);
}

static void show_ending(const struct sp_report *report, struct sp_out *out)
{
	char text[LINE_BYTES];

	sp_ending_text(report, text, sizeof(text));
	if (*text)
		sp_out_line(out, "ending     %s", text);
}

static void show_losses(const struct sp_report *report, struct sp_out *out)
{
	uint64_t by_cause =
		report->totals.lost_full + report->totals.lost_nested + report->totals.lost_no_file;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out,
		    sp_translate_plural("lost       %s event", "lost       %s events",
					report->totals.lost),
		    sp_text_count(a, report->totals.lost));
	show_cause(out, report->totals.lost_full, N_("because the trace could not grow"));
	show_cause(out, report->totals.lost_nested,
		   N_("in signal handlers, while a block was being written"));
	show_cause(out, report->totals.lost_no_file, N_("of threads that could not have a file"));
	if (by_cause)
		show_cause(out, report->totals.lost > by_cause ? report->totals.lost - by_cause : 0,
			   N_("of unknown cause"));
	show_cause(out, report->totals.missing,
		   N_("slots missing: damaged or lost parts of the trace"));
	show_cause(out, report->totals.holes,
		   N_("slots never committed: calls cut off, or damage"));
	show_cause(out, report->totals.unknown,
		   N_("events of kinds that this version does not know"));
	show_cause(out, sp_metadata_refused(&report->run.metadata),
		   N_("names found no room in the report: others stands for them"));
	if (sp_index_unread(&report->run.index))
		sp_out_line(out,
			    "unread     %s of %s files: of another version of the format, or not "
			    "to be opened; see the view info",
			    sp_text_count(a, sp_index_unread(&report->run.index)),
			    sp_text_count(b, report->run.index.file_count));
	show_ends(report, out);
	show_off(report, out);
}

/* "group\tstate\tdetail" */
static bool is_observed(const char *text, size_t bytes)
{
	const char *tab = memchr(text, '\t', bytes);
	size_t left = tab ? (size_t)(text + bytes - tab) : 0;

	return left >= 6 && memcmp(tab, "\tbound", 6) == 0 && (left == 6 || tab[6] == '\t');
}

#define FUNCTION_WANTED "functions\twanted\t" /* a name of STAGEPROF_FUNCTIONS */
#define FUNCTION_BOUND "functions\tbound\t"

static bool is_wanted_function(const char *text, size_t bytes)
{
	size_t head = sizeof(FUNCTION_WANTED) - 1;

	return bytes > head && memcmp(text, FUNCTION_WANTED, head) == 0;
}

static bool is_framework(const char *text, size_t bytes)
{
	static const char head[] = SP_FRAMEWORK_GROUP "\t";

	return bytes >= sizeof(head) && memcmp(text, head, sizeof(head) - 1) == 0;
}

/* Any process may have found a wanted function. */
static bool is_found_function(const struct sp_string_table *names, const char *name, size_t bytes)
{
	size_t head = sizeof(FUNCTION_BOUND) - 1;

	for (uint32_t i = 1; i < names->count; i++) {
		size_t n;
		const char *text = sp_string_table_text(names, i, &n);

		if (n == head + bytes && memcmp(text, FUNCTION_BOUND, head) == 0 &&
		    memcmp(text + head, name, bytes) == 0)
			return true;
	}
	return false;
}

static void show_wanted_functions(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_string_table *names = &report->run.metadata.coverage.names;
	size_t head = sizeof(FUNCTION_WANTED) - 1;
	uint32_t shown = 0;

	for (uint32_t i = 1; i < names->count && shown < TALLY_LINES_MAX; i++) {
		char name[LINE_BYTES];
		size_t bytes;
		const char *text = sp_string_table_text(names, i, &bytes);

		if (!is_wanted_function(text, bytes) ||
		    is_found_function(names, text + head, bytes - head))
			continue;
		sp_text_escape(name, sizeof(name), text + head, bytes - head);
		sp_out_line(out,
			    "unseen     STAGEPROF_FUNCTIONS names %s: the job made or imported no "
			    "such function",
			    name);
		shown++;
	}
}

/* The group is a name; state and detail are words, mostly of the library. */
static const char *coverage_words(char ret[LINE_BYTES], const char *text, size_t bytes)
{
	size_t used = 0;

	ret[0] = '\0';
	while (used + 1 < LINE_BYTES) {
		const char *tab = memchr(text, '\t', bytes);
		size_t n = tab ? (size_t)(tab - text) : bytes;
		char word[LINE_BYTES];

		sp_text_escape(word, sizeof(word), text, n);
		used += (size_t)snprintf(ret + used, LINE_BYTES - used, "%s%s", used ? " " : "",
					 _(word));
		if (!tab)
			break;
		text += n + 1;
		bytes -= n + 1;
	}
	return ret;
}

#define GIVES_BYTES 128u

/* The parts that the recorder gets from a framework: "steps, input waits". */
static void gives_words(char ret[GIVES_BYTES], unsigned gives)
{
	static const struct {
		unsigned bit;
		const char *word;
	} words[] = {
		{SP_GIVES_STEPS, N_("steps")},
		{SP_GIVES_SOME_STEPS, N_("some steps")},
		{SP_GIVES_WAITS, N_("input waits")},
		{SP_GIVES_PHASES, N_("phases")},
		{SP_GIVES_TRANSFERS, N_("transfers")},
		{SP_GIVES_COMPILATION, N_("compilation")},
		{SP_GIVES_CHECKPOINTS, N_("checkpoints")},
		{SP_GIVES_MODULES, N_("modules")},
		{SP_GIVES_OPERATORS, N_("operators")},
	};
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && used < GIVES_BYTES; i++)
		if (gives & words[i].bit)
			used += (size_t)snprintf(ret + used, GIVES_BYTES - used, "%s%s",
						 used ? _(", ") : "", _(words[i].word));
}

/* Each framework that was loaded, and what is recorded of it. */
static void show_frameworks(const struct sp_report *report, struct sp_out *out)
{
	const char *head = N_("frameworks ");
	struct sp_frameworks frameworks;

	sp_frameworks_read(&report->run.metadata, &frameworks);
	for (int i = 0; i < SP_FRAMEWORKS; i++) {
		char gives[GIVES_BYTES], text[SP_FRAMEWORK_TEXT_BYTES];

		if (!frameworks.of[i].is_loaded)
			continue;
		sp_framework_text(&frameworks, (enum sp_framework_id)i, text);
		gives_words(gives, sp_framework_gives(&frameworks, (enum sp_framework_id)i));
		if (*gives)
			sp_out_line(out, "%s%s: %s", _(head), text, gives);
		else
			sp_out_line(out, "%s%s: loaded, nothing of its own is recorded", _(head),
				    text);
		head = "           ";
	}
}

static void show_unobserved(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_string_table *names = &report->run.metadata.coverage.names;
	const char *head = N_("unseen     ");
	uint32_t shown = 0;

	for (uint32_t i = 1; i < names->count && shown < TALLY_LINES_MAX; i++) {
		char line[LINE_BYTES];
		size_t bytes;
		const char *text = sp_string_table_text(names, i, &bytes);

		if (is_observed(text, bytes) || is_wanted_function(text, bytes) ||
		    is_framework(text, bytes))
			continue;
		sp_out_line(out, "%s%s", _(head), coverage_words(line, text, bytes));
		head = "           ";
		shown++;
	}
}

/* A library whose calls the run would record; its stages are those of its classes. */
static const struct boundary {
	const char *name, *title;
	enum sp_library library; /* SP_LIBRARY_DECODER: of this class only */
	enum sp_class class;
} boundaries[] = {
	{"hdf5", "HDF5", SP_LIBRARY_HDF5, SP_CLASSES},
#define SP_DECODER(name, stage, title, work, inside)                                               \
	{#stage, title, SP_LIBRARY_DECODER, SP_CLASS_##name},
#include "trace/decoders.def"
#undef SP_DECODER
	{"cuda", "CUDA", SP_LIBRARY_CUDA, SP_CLASSES},
	{"nccl", "NCCL", SP_LIBRARY_NCCL, SP_CLASSES},
};

#define BOUNDARIES (sizeof(boundaries) / sizeof(boundaries[0]))

static bool is_class_called(const struct sp_report *report, enum sp_class class)
{
	for (int place = 0; place < SP_FD_KINDS; place++)
		if (report->totals.stages[sp_class_stage(class, (enum sp_fd_kind)place)].calls)
			return true;
	return false;
}

/* A wheel hides its decoder, whose calls from Python are ranges. */
static bool is_called_from_python(const struct sp_report *report, enum sp_class class)
{
	unsigned phase = class == SP_CLASS_PNG	   ? SP_PHASE_decode_png
			 : class == SP_CLASS_VIDEO ? SP_PHASE_decode_video
						   : SP_PHASE_none;

	return report->totals.phases >> phase & 1;
}

static bool is_called(const struct sp_report *report, const struct boundary *b)
{
	if (b->library == SP_LIBRARY_DECODER)
		return is_class_called(report, b->class) || is_called_from_python(report, b->class);
	for (int class = 0; class < SP_CLASSES; class ++)
		if (sp_class_library((enum sp_class) class) == b->library &&
		    is_class_called(report, (enum sp_class) class))
			return true;
	return false;
}

/* A missing row is not a zero: the work was not done, or no hook saw it. */
static void show_uncalled(const struct sp_report *report, struct sp_out *out)
{
	char line[LINE_BYTES] = "";

	for (size_t i = 0; i < BOUNDARIES; i++) {
		if (is_called(report, &boundaries[i]))
			continue;
		strcat(line, line[0] ? _(", ") : "");
		strcat(line, _(boundaries[i].title));
	}
	if (line[0])
		sp_out_line(out, "no calls   %s: not made, or not recorded", line);
}

static void uncalled_json(const struct sp_report *report, struct sp_out *out)
{
	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(&out->json, "never_called", '[');
	for (size_t i = 0; i < BOUNDARIES; i++)
		if (!is_called(report, &boundaries[i]))
			sp_json_string(&out->json, NULL, boundaries[i].name,
				       strlen(boundaries[i].name));
	sp_json_close(&out->json, ']');
}

/* A note is a sentence, mostly of the library, and optionally a tab and a name. Returns the
 * bytes of the sentence. */
static size_t sentence_bytes(const char *text, size_t bytes)
{
	const char *tab = memchr(text, '\t', bytes);

	return tab ? (size_t)(tab - text) : bytes;
}

/* Collects the names of this note and of all later notes with the same sentence. Returns true
 * where an earlier note has shown them. */
static bool note_names(char ret[LINE_BYTES], const struct sp_string_table *names, uint32_t note)
{
	size_t bytes, used = 0;
	const char *text = sp_string_table_text(names, note, &bytes);
	size_t sentence = sentence_bytes(text, bytes);

	ret[0] = '\0';
	for (uint32_t i = 1; i < names->count && used + 1 < LINE_BYTES; i++) {
		size_t other_bytes;
		const char *other = sp_string_table_text(names, i, &other_bytes);
		char name[LINE_BYTES];

		if (sentence_bytes(other, other_bytes) != sentence ||
		    memcmp(other, text, sentence) != 0)
			continue;
		if (i < note)
			return true;
		if (other_bytes == sentence)
			continue;
		sp_text_escape(name, sizeof(name), other + sentence + 1,
			       other_bytes - sentence - 1);
		used += (size_t)snprintf(ret + used, LINE_BYTES - used, "%s%s", used ? ", " : "",
					 _(name));
	}
	return false;
}

static void show_notes(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_string_table *names = &report->run.metadata.notes.names;
	uint32_t shown = 0;

	for (uint32_t i = 1; i < names->count && shown < TALLY_LINES_MAX; i++) {
		char line[LINE_BYTES], of[LINE_BYTES];
		size_t bytes;
		const char *text = sp_string_table_text(names, i, &bytes);

		if (note_names(of, names, i))
			continue;
		sp_text_escape(line, sizeof(line), text, sentence_bytes(text, bytes));
		if (*of)
			sp_out_line(out, "note       %s (%s)", _(line), of);
		else
			sp_out_line(out, "note       %s", _(line));
		shown++;
	}
}

static void tally_json(struct sp_out *out, const char *key, const struct sp_tally *tally)
{
	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(&out->json, key, '[');
	for (uint32_t i = 1; i < tally->names.count; i++) {
		size_t bytes;
		const char *text = sp_string_table_text(&tally->names, i, &bytes);

		sp_json_open(&out->json, NULL, '{');
		sp_json_string(&out->json, "text", text, bytes);
		sp_json_count(&out->json, "times", tally->counts[i]);
		sp_json_close(&out->json, '}');
	}
	sp_json_close(&out->json, ']');
}

/* A missing row is not a zero here either. */
static void show_digests(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_index *index = &report->run.index;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];
	uint32_t n = 0;

	for (uint32_t i = 0; i < index->stream_count; i++)
		n += index->streams[i]->digested != NULL;
	if (n)
		sp_out_line(out,
			    "digests    %s of %s threads are from digests, which have no events: "
			    "verdict, workers, what-ifs, GPU and functions need the runs",
			    sp_text_count(a, n), sp_text_count(b, index->stream_count));
}

void sp_run_show(const struct sp_report *report, struct sp_out *out)
{
	show_part(report, out);
	show_command(report, out);
	show_hosts(report, out);
	show_totals(report, out);
	show_ending(report, out);
	show_losses(report, out);
	show_digests(report, out);
	sp_own_cost_show(report, out);
	show_frameworks(report, out);
	show_unobserved(report, out);
	show_wanted_functions(report, out);
	show_uncalled(report, out);
	show_notes(report, out);
}

/* The lines that fit a terminal of 24, below the command and above the next prompt. */
#define BRIEF_LINES_MAX 22u
#define BRIEF_CARD_LINES_MAX 10u /* longer advice is in -v */

/* Writes what the account leaves out, and what the verdict leaves out of the account. */
static int show_sums(const struct sp_report *report, struct sp_out *out)
{
	struct sp_metrics *e = calloc(1, sizeof(*e));
	int r = e ? sp_metrics_gather(e, report) : -ENOMEM;

	if (r == 0) {
		sp_wait_section(e, out);
		r = sp_life_section(report, out, true);
	}
	free(e);
	return r;
}

static int show_brief(const struct sp_report *report, struct sp_out *out,
		      const struct sp_view_options *options)
{
	int lines = sp_card_show(report, out, options, BRIEF_CARD_LINES_MAX);
	int r = lines < 0 ? lines : 0;

	/* a blank line before the last one, and four below the account */
	if (r == 0)
		r = sp_account_section_brief(report, out, BRIEF_LINES_MAX - 6 - (unsigned)lines);
	if (r == 0)
		r = show_sums(report, out);
	if (r == 0)
		sp_out_line(out, "\nmore: -v; the views of --help; a page: html -o report.html");
	return r;
}

int sp_view_summary(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	int r;

	if (options->is_brief && !options->sort)
		return show_brief(report, out, options);
	r = sp_stages_check_sort(options);
	if (r == 0)
		r = sp_verdict_show(report, out);
	if (r < 0)
		return r;
	sp_run_json(report, out);
	sp_run_show(report, out);
	sp_gpu_show(report, out);
	r = sp_account_section(report, out);
	if (r == 0)
		r = sp_stages_show(report, out, options);
	if (r == 0)
		r = sp_inflight_show(report, out);
	if (r == 0)
		r = sp_ending_show(report, out);
	uncalled_json(report, out);
	tally_json(out, "coverage", &report->run.metadata.coverage);
	tally_json(out, "notes", &report->run.metadata.notes);
	return r;
}
