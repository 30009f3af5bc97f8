/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/option_checks.h"

#include <string.h>
#include <unistd.h>

#include "analyzer/cli/option_values.h"
#include "analyzer/cli/run_find.h"

static void check_follow(const struct argp_state *state, const struct sp_options *o)
{
	if (o->follows && (o->exporter || (o->view && (o->view->needs & SP_NEEDS_END))))
		bad_pair(state, "--follow: not for %s",
			 o->exporter ? o->exporter->name : o->view->name);
	if (o->follows && o->output)
		bad_pair(state, "--follow: writes to stdout, not to a file (-o)");
	if (!o->follows && o->interval_ns)
		bad_pair(state, "--interval: only with --follow");
}

static void check_selection(const struct argp_state *state, const struct sp_options *o)
{
	unsigned needs = o->view ? o->view->needs : 0;
	struct sp_step_selection steps = o->steps;
	const char *asked = NULL;

	if (needs & SP_HAS_EPOCHS)
		steps.epoch = -1;
	if (o->selection.from_ns != INT64_MIN || o->selection.to_ns != INT64_MAX)
		asked = "--from, --to";
	if (!sp_step_selection_is_all(&steps))
		asked = "--steps, --warmup, --epoch";
	if (asked && (needs & SP_IS_WHOLE))
		bad_pair(state, "%s: not for %s, which shows the whole run", asked, o->view->name);
}

static void check_document(const struct argp_state *state, const struct sp_options *o)
{
	if (o->format != SP_FORMAT_TABLE)
		bad_pair(state, "%s: it has a format of its own, so no --format", o->view->name);
	if (!o->output && isatty(STDOUT_FILENO))
		bad_pair(state, "%s: it is no text for a terminal: -o report.%s", o->view->name,
			 o->view->name);
}

static void check_digest(const struct argp_state *state, const struct sp_options *o)
{
	if (!o->output && isatty(STDOUT_FILENO))
		bad_pair(state, "digest: it is no text for a terminal: -o FILE.spd");
	if (o->selection.pid || o->selection.tid || o->selection.from_ns != INT64_MIN ||
	    o->selection.to_ns != INT64_MAX || !sp_step_selection_is_all(&o->steps))
		bad_pair(state, "digest: of whole runs, so no selection");
	if (o->follows || o->format != SP_FORMAT_TABLE)
		bad_pair(state, "digest: it has a format of its own, so no --format and --follow");
}

static void check_export(const struct argp_state *state, const struct sp_options *o)
{
	if (o->is_export && !o->exporter)
		bad_word(state, "export what? (see --help)");
	if (o->exporter && o->exporter->is_binary && !o->output && isatty(STDOUT_FILENO))
		bad_pair(state, "export %s is not for a terminal: -o FILE", o->exporter->name);
	if (o->exporter && (o->exporter->needs & SP_IS_FOLDER) &&
	    (!o->output || strcmp(o->output, "-") == 0))
		bad_pair(state, "export %s writes a folder: -o FOLDER", o->exporter->name);
}

/* Without a RUN the newest run here is taken. */
static void check_runs(const struct argp_state *state, struct sp_options *o, bool compares)
{
	unsigned runs = state->arg_num - (o->exporter ? 2 : o->view || o->is_digest ? 1 : 0);

	if (compares && runs == 0) /* empty variables of a script must not pass its check */
		bad_word(state, "%s: no RUN given; it takes two or more", o->view->name);
	if (runs == 0 && !sp_run_newest(o->newest))
		bad_word(state, "no RUN given, and no run*.zst here");
	if (runs == 0)
		*o->paths++ = o->newest;
	if (compares && runs == 1)
		bad_word(state, "%s: only one RUN given; the second is missing", o->view->name);
	if (compares && runs > SP_RUNS_MAX)
		bad_word(state, "%s: %u runs given; %u fit beside each other", o->view->name, runs,
			 SP_RUNS_MAX);
}

/* --by chooses rows of the view, which may have been named after it. */
static void choose_rows(const struct argp_state *state, struct sp_options *o)
{
	const struct sp_view *view = o->view ? o->view : &sp_views[0];
	char words[128];
	int value;

	if (!o->by_word)
		return;
	if (!o->exporter)
		o->view = sp_view_by(view, o->by_word, &value);
	if (o->view && o->view->show == sp_view_files)
		o->by = (enum sp_file_naming)value;
	if (o->view && o->view->show == sp_view_functions)
		o->rows.function_rows = (enum sp_function_rows)value;
	if (o->view)
		return;
	sp_view_by_words(view, words, sizeof(words));
	if (o->exporter || !*words)
		bad_pair(state, "--by: not for %s", o->exporter ? o->exporter->name : view->name);
	bad_value(state, "--by: %s takes %s, and not %s", view->name, words, o->by_word);
}

/* Options of a few views. */
static void check_rows(const struct argp_state *state, const struct sp_options *o, bool compares)
{
	if (o->table && (o->exporter || o->format != SP_FORMAT_CSV))
		bad_pair(state, "--table: only with --format=csv");
	if (o->against && o->view && o->view->show != sp_view_card)
		bad_pair(state, "--against: only for summary --by=short");
	if (o->rows.symbols && !(o->view && (o->view->needs & SP_NEEDS_SYMBOLS)))
		bad_pair(state, "--symbols: only for the views stacks and html");
	if (o->rows.phase && !(o->view && o->view->show == sp_view_functions))
		bad_pair(state, "--phase: only for the view functions");
	if (!compares && o->rows.slower_limit >= 0)
		bad_pair(state, "--fail-if-slower: only for the view compare");
	if (o->rows.hung_limit_ns && !(o->view && o->view->show == sp_view_hang))
		bad_pair(state, "--fail-if-hung: only for the view hang");
}

void sp_options_check(const struct argp_state *state, struct sp_options *o)
{
	bool compares = o->view && (o->view->needs & SP_NEEDS_RUNS);

	if (o->explains) {
		if (state->arg_num > 3)
			bad_pair(state, "explain: one code, and one RUN");
		return;
	}
	if (o->is_digest)
		check_digest(state, o);
	check_export(state, o);
	check_runs(state, o, compares);
	choose_rows(state, o);
	check_follow(state, o);
	check_selection(state, o);
	if (o->view && (o->view->needs & SP_IS_DOCUMENT))
		check_document(state, o);
	check_rows(state, o, compares);
}
