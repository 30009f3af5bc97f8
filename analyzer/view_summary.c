#include "analyzer/view.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/inflight.h"
#include "analyzer/own_cost.h"
#include "analyzer/text.h"

#define LINE_BYTES 1024u
#define TALLY_LINES_MAX 20u

static void show_hosts(const struct sp_report *report, struct sp_out *out)
{
	char name[LINE_BYTES];

	for (uint32_t i = 0; i < report->index.host_count && i < 4; i++) {
		const struct sp_host *h = &report->index.hosts[i];

		sp_text_escape(name, sizeof(name), h->name, strnlen(h->name, sizeof(h->name)));
		sp_out_line(out, "host       %s", name);
	}
	if (report->index.host_count > 4)
		sp_out_line(out, "           and %u more", report->index.host_count - 4);
}

static void show_command(const struct sp_report *report, struct sp_out *out)
{
	char line[LINE_BYTES], words[LINE_BYTES];

	for (uint32_t i = 0; i < report->index.image_count; i++) {
		const struct sp_image_facts *image = &report->facts.images[i];
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

static void show_facts(const struct sp_report *report, struct sp_out *out)
{
	struct sp_traffic traffic = sp_stages_traffic(report->stages);
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out, "duration   %s",
		    sp_text_ns(a, (uint64_t)(report->end_ns - report->begin_ns)));
	sp_out_line(out, "processes  %s, threads %s", sp_text_count(a, report->processes),
		    sp_text_count(b, report->threads));
	sp_out_line(out, "events     %s", sp_text_count(a, report->events));
	sp_out_line(out, "bytes      %s read, %s written", sp_text_bytes(a, traffic.read_bytes),
		    sp_text_bytes(b, traffic.written_bytes));
}

static void show_cause(struct sp_out *out, uint64_t n, const char *cause)
{
	char a[SP_NUMBER_BYTES];

	if (n)
		sp_out_line(out, "           %s %s", sp_text_count(a, n), _(cause));
}

/* What is not recorded is in no row: the time in which that was so, by the thread that it was longest in. */
static void show_off(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_sums *sums = &report->stages[SP_STAGE_off];
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];
	uint64_t steps = 0;

	for (uint32_t t = 0; t < report->training.count; t++)
		steps += report->training.trainers[t].steps.unrecorded;
	if (sums->calls)
		sp_out_line(out,
			    "off        recording was off %s times, up to %s, for %s steps of training: rows leave that out",
			    sp_text_count(a, sums->calls), sp_text_ns(b, sums->max_ns), sp_text_count(c, steps));
}

/* Threads that a process leaves behind in the end are the usual case. */
static void show_ends(const struct sp_report *report, struct sp_out *out)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_text_count(a, report->threads - report->not_ended - report->ended_with_process);
	sp_text_count(b, report->threads);
	sp_text_count(c, report->ended_with_process);
	if (report->not_ended && report->ended_with_process)
		sp_out_line(out, "ended      %s of %s threads, %s more with their process; the others were killed, or still run",
			    a, b, c);
	else if (report->not_ended)
		sp_out_line(out, "ended      %s of %s threads; the others were killed, or still run", a, b);
}

static void show_losses(const struct sp_report *report, struct sp_out *out)
{
	uint64_t told = report->lost_full + report->lost_nested + report->lost_no_file;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	sp_out_line(out, "lost       %s events", sp_text_count(a, report->lost));
	show_cause(out, report->lost_full, N_("because the trace could not grow"));
	show_cause(out, report->lost_nested, N_("in signal handlers, while a block was being written"));
	show_cause(out, report->lost_no_file, N_("of threads that could not have a file"));
	if (told)
		show_cause(out, report->lost > told ? report->lost - told : 0, N_("of untold cause"));
	show_cause(out, report->missing, N_("slots missing: damaged or lost parts of the trace"));
	show_cause(out, report->holes, N_("slots never committed: calls cut off, or damage"));
	show_cause(out, report->unknown, N_("events of kinds that this version does not know"));
	if (sp_index_unread(&report->index))
		sp_out_line(out, "unread     %s of %s files: of another version of the format, or not to be opened; see the view info",
			    sp_text_count(a, sp_index_unread(&report->index)),
			    sp_text_count(b, report->index.file_count));
	show_ends(report, out);
	show_off(report, out);
	if (report->write_mode)
		sp_out_line(out, "mode       %s threads without a shared mapping: a kill loses their last events",
			    sp_text_count(a, report->write_mode));
}

/* "group\tstate\tdetail" */
static bool is_observed(const char *text, size_t bytes)
{
	const char *tab = memchr(text, '\t', bytes);
	size_t left = tab ? (size_t)(text + bytes - tab) : 0;

	return left >= 6 && memcmp(tab, "\tbound", 6) == 0 && (left == 6 || tab[6] == '\t');
}

/* The group is a name; the state and what is told of it are words, mostly of the library's. */
static const char *coverage_words(char ret[LINE_BYTES], const char *text, size_t bytes)
{
	size_t used = 0;

	ret[0] = '\0';
	while (used + 1 < LINE_BYTES) {
		const char *tab = memchr(text, '\t', bytes);
		size_t n = tab ? (size_t)(tab - text) : bytes;
		char word[LINE_BYTES];

		sp_text_escape(word, sizeof(word), text, n);
		used += (size_t)snprintf(ret + used, LINE_BYTES - used, "%s%s", used ? " " : "", _(word));
		if (!tab)
			break;
		text += n + 1;
		bytes -= n + 1;
	}
	return ret;
}

static void show_unobserved(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_names *names = &report->facts.coverage.names;
	const char *head = N_("unseen     ");
	uint32_t shown = 0;

	for (uint32_t i = 1; i < names->count && shown < TALLY_LINES_MAX; i++) {
		char line[LINE_BYTES];
		size_t bytes;
		const char *text = sp_names_text(names, i, &bytes);

		if (is_observed(text, bytes))
			continue;
		sp_out_line(out, "%s%s", _(head), coverage_words(line, text, bytes));
		head = "           ";
		shown++;
	}
}

/* What a library boundary would have shown. Its stages stand side by side in trace/stages.def. */
static const struct boundary {
	const char *name, *title;
	uint32_t first, last; /* enum sp_stage */
} boundaries[] = {
	{"hdf5", "HDF5", SP_STAGE_hdf5_open, SP_STAGE_hdf5_write},
	{"jpeg_decode", N_("JPEG decode"), SP_STAGE_jpeg_decode, SP_STAGE_jpeg_decode},
	{"png_decode", N_("PNG decode"), SP_STAGE_png_decode, SP_STAGE_png_decode},
	{"webp_decode", N_("WebP decode"), SP_STAGE_webp_decode, SP_STAGE_webp_decode},
	{"video_decode", N_("video decode"), SP_STAGE_video_decode, SP_STAGE_video_decode},
	{"cuda", "CUDA", SP_STAGE_cuda_launch, SP_STAGE_cuda_free},
	{"nccl", "NCCL", SP_STAGE_nccl, SP_STAGE_nccl},
};

static bool is_called(const struct sp_report *report, const struct boundary *b)
{
	for (uint32_t stage = b->first; stage <= b->last; stage++)
		if (report->stages[stage].calls)
			return true;
	return false;
}

/* An absent row is not a zero: the work was not done, or it was done where no boundary shows it. */
static void show_uncalled(const struct sp_report *report, struct sp_out *out)
{
	char line[LINE_BYTES] = "";

	for (size_t i = 0; i < sizeof(boundaries) / sizeof(boundaries[0]); i++) {
		if (is_called(report, &boundaries[i]))
			continue;
		strcat(line, line[0] ? _(", ") : "");
		strcat(line, _(boundaries[i].title));
	}
	if (line[0])
		sp_out_line(out, "no calls   %s: not done, or out of sight", line);
}

static void uncalled_json(const struct sp_report *report, struct sp_out *out)
{
	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(&out->json, "never_called", '[');
	for (size_t i = 0; i < sizeof(boundaries) / sizeof(boundaries[0]); i++)
		if (!is_called(report, &boundaries[i]))
			sp_json_string(&out->json, NULL, boundaries[i].name,
				       strlen(boundaries[i].name));
	sp_json_close(&out->json, ']');
}

/* A note is a sentence, mostly of the library's, and perhaps a tab and the name that it is of. Bytes of the sentence. */
static size_t sentence_bytes(const char *text, size_t bytes)
{
	const char *tab = memchr(text, '\t', bytes);

	return tab ? (size_t)(tab - text) : bytes;
}

/* The names of this note and of all later ones of its sentence. Returns whether an earlier one has shown them. */
static bool note_names(char ret[LINE_BYTES], const struct sp_names *names, uint32_t note)
{
	size_t bytes, used = 0;
	const char *text = sp_names_text(names, note, &bytes);
	size_t sentence = sentence_bytes(text, bytes);

	ret[0] = '\0';
	for (uint32_t i = 1; i < names->count && used + 1 < LINE_BYTES; i++) {
		size_t other_bytes;
		const char *other = sp_names_text(names, i, &other_bytes);
		char name[LINE_BYTES];

		if (sentence_bytes(other, other_bytes) != sentence || memcmp(other, text, sentence) != 0)
			continue;
		if (i < note)
			return true;
		if (other_bytes == sentence)
			continue;
		sp_text_escape(name, sizeof(name), other + sentence + 1, other_bytes - sentence - 1);
		used += (size_t)snprintf(ret + used, LINE_BYTES - used, "%s%s", used ? ", " : "", _(name));
	}
	return false;
}

static void show_notes(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_names *names = &report->facts.notes.names;
	uint32_t shown = 0;

	for (uint32_t i = 1; i < names->count && shown < TALLY_LINES_MAX; i++) {
		char line[LINE_BYTES], of[LINE_BYTES];
		size_t bytes;
		const char *text = sp_names_text(names, i, &bytes);

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
		const char *text = sp_names_text(&tally->names, i, &bytes);

		sp_json_open(&out->json, NULL, '{');
		sp_json_string(&out->json, "text", text, bytes);
		sp_json_count(&out->json, "times", tally->counts[i]);
		sp_json_close(&out->json, '}');
	}
	sp_json_close(&out->json, ']');
}

void sp_run_show(const struct sp_report *report, struct sp_out *out)
{
	show_command(report, out);
	show_hosts(report, out);
	show_facts(report, out);
	show_losses(report, out);
	sp_own_cost_show(report, out);
	show_unobserved(report, out);
	show_uncalled(report, out);
	show_notes(report, out);
}

int sp_view_summary(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	int r = sp_verdict_show(report, out);

	if (r < 0)
		return r;
	sp_run_json(report, out);
	sp_run_show(report, out);
	sp_gpu_show(report, out);
	r = sp_account_show(report, out);
	if (r == 0)
		r = sp_stages_show(report, out, options);
	if (r == 0)
		r = sp_inflight_show(report, out);
	uncalled_json(report, out);
	tally_json(out, "coverage", &report->facts.coverage);
	tally_json(out, "notes", &report->facts.notes);
	return r;
}
