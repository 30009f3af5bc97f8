/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/coverage_section.h"

#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/text/text.h"

#define LINE_BYTES 1024u
#define TALLY_LINES_MAX 20u

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
	return SP_ANY(place, SP_FD_KINDS,
		      report->totals.stages[sp_class_stage(class, (enum sp_fd_kind)place)].calls);
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

void sp_coverage_section(const struct sp_report *report, struct sp_out *out)
{
	show_frameworks(report, out);
	show_unobserved(report, out);
	show_wanted_functions(report, out);
	show_uncalled(report, out);
	show_notes(report, out);
}

void sp_coverage_section_json(const struct sp_report *report, struct sp_out *out)
{
	if (out->format != SP_FORMAT_JSON)
		return;
	uncalled_json(report, out);
	tally_json(out, "coverage", &report->run.metadata.coverage);
	tally_json(out, "notes", &report->run.metadata.notes);
}
