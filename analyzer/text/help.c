/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/help.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/wrap.h"

#define COLUMNS 76u
#define TEXT_AT 29u /* where argp puts it */
#define SETTING "STAGEPROF_"
#define USAGE_STATUS 2

/* The text from column `at` on; `used` columns of its first line are taken. */
static void put_wrapped(FILE *file, const char *text, size_t used, size_t at)
{
	for (size_t n; *text; text += n + strspn(text + n, " "), used = 0) {
		n = strcspn(text, "\n");
		if (!n) {
			fputs("\n", file);
			text++;
			continue;
		}
		if (used > at) {
			fputs("\n", file);
			used = 0;
		}
		n = sp_wrap(text, COLUMNS - at);
		fprintf(file, "%*s%.*s\n", (int)(at - used), "", (int)n, text);
		n += text[n] == '\n';
	}
}

void sp_help_text(FILE *file, const char *text)
{
	put_wrapped(file, sp_translate(text), 0, 0);
}

void sp_help_entry(FILE *file, const char *name, const char *text)
{
	size_t used = sp_text_width(name) + 4;
	const char *shown = sp_translate(text);
	size_t n = sp_wrap(shown, COLUMNS - used);

	fprintf(file, "  %s: %.*s\n", name, (int)n, shown);
	shown += n + strspn(shown + n, " ");
	put_wrapped(file, shown, 0, 6);
}

static bool has_letter(const struct argp_option *o)
{
	return o->key > 0 && o->key < 128 && isprint(o->key);
}

/* The doc of a setting begins with its variable, which stays. */
static void put_doc(FILE *file, const char *doc, size_t used)
{
	const char *colon =
		strncmp(doc, SETTING, sizeof(SETTING) - 1) == 0 ? strstr(doc, ": ") : NULL;
	char text[1024];

	if (!colon) {
		put_wrapped(file, sp_translate(doc), used, TEXT_AT);
		return;
	}
	snprintf(text, sizeof(text), "%.*s%s", (int)(colon + 2 - doc), doc,
		 sp_translate(colon + 2));
	put_wrapped(file, text, used, TEXT_AT);
}

static void put_option(FILE *file, const struct argp_option *o)
{
	bool is_optional = (o->flags & OPTION_ARG_OPTIONAL) != 0;
	char left[128];
	int n = 0;

	if (o->flags & OPTION_HIDDEN)
		return;
	if (has_letter(o))
		n = snprintf(left, sizeof(left), "  -%c, --%s", o->key, o->name);
	else
		n = snprintf(left, sizeof(left), "      --%s", o->name);
	if (o->arg && n > 0 && (size_t)n < sizeof(left))
		snprintf(left + n, sizeof(left) - (size_t)n, is_optional ? "[=%s]" : "=%s", o->arg);
	fputs(left, file);
	if (strlen(left) >= TEXT_AT) {
		fputs("\n", file);
		put_doc(file, o->doc, 0);
	} else {
		put_doc(file, o->doc, strlen(left));
	}
}

static int by_name(const void *a, const void *b)
{
	const struct argp_option *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void put_options(FILE *file, const struct argp_option *options)
{
	const struct argp_option *order[128] = {NULL};
	size_t count = 0;

	for (const struct argp_option *o = options; o->name && count < 128; o++)
		order[count++] = o;
	qsort(order, count, sizeof(*order), by_name);
	for (size_t i = 0; i < count; i++)
		put_option(file, order[i]);
	fputs("\n", file);
}

static void put_usages(FILE *file, const char *usages)
{
	const char *head = _("Usage: ");

	for (size_t n; *usages; usages += n + (usages[n] == '\n')) {
		n = strcspn(usages, "\n");
		fprintf(file, "%s%.*s\n", head, (int)n, usages);
		head = _("  or:  ");
	}
}

static const struct argp_option common[] = {
	{"help", '?', NULL, 0, N_("give this help list"), 0},
	{"usage", 1000, NULL, 0, N_("give a short usage message"), 0},
	{"version", 'V', NULL, 0, N_("print the program's version"), 0},
	{0},
};

static void print(FILE *file, const struct sp_help *help)
{
	put_usages(file, help->usages);
	sp_help_text(file, help->before);
	fputs("\n", file);
	put_options(file, help->options);
	if (help->settings) {
		sp_help_text(file, N_("Settings of the recorder:"));
		put_options(file, help->settings);
	}
	put_options(file, common);
	if (help->after)
		help->after(file);
}

__attribute__((noreturn)) static void refuse(const char *program, const char *text)
{
	fprintf(stderr, "%s: %s\n", program, text);
	fprintf(stderr, _("Try `%s --help' for more information.\n"), program);
	exit(USAGE_STATUS);
}

void sp_help_refuse(const struct argp_state *state, const char *text)
{
	if (strcmp(sp_translate_code(), "en") != 0)
		refuse(state->name, text);
	argp_error(state, "%s", text);
}

static const struct argp_option *const *tables_of(const struct sp_help *help)
{
	static const struct argp_option *tables[4];

	tables[0] = common;
	tables[1] = help->options;
	tables[2] = help->settings;
	return tables;
}

/* The option of that name, or that alone begins so; NULL: none. */
static const struct argp_option *long_find(const struct sp_help *help, const char *name,
					   size_t bytes, unsigned *ret_count)
{
	const struct argp_option *found = NULL;

	*ret_count = 0;
	for (const struct argp_option *const *table = tables_of(help); *table; table++)
		for (const struct argp_option *o = *table; o->name; o++) {
			if (strncmp(o->name, name, bytes) != 0)
				continue;
			found = o;
			++*ret_count;
			if (!o->name[bytes]) {
				*ret_count = 1;
				return o;
			}
		}
	return *ret_count == 1 ? found : NULL;
}

static const struct argp_option *letter_find(const struct sp_help *help, char letter)
{
	for (const struct argp_option *const *table = tables_of(help); *table; table++)
		for (const struct argp_option *o = *table; o->name; o++)
			if (has_letter(o) && o->key == letter)
				return o;
	return NULL;
}

static bool takes_next(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

__attribute__((format(printf, 2, 3), noreturn)) static void refuse_option(const char *program,
									  const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	refuse(program, text);
}

/* Returns 1 where the option's value is the next word. */
static int check_long(const struct sp_help *help, const char *program, const char *word,
		      const char *next)
{
	size_t bytes = strcspn(word + 2, "=");
	unsigned count;
	const struct argp_option *o = long_find(help, word + 2, bytes, &count);
	bool has_value = word[2 + bytes] == '=';

	if (!o && count)
		refuse_option(program, _("option '%s' is ambiguous"), word);
	if (!o)
		refuse_option(program, _("unrecognized option '%s'"), word);
	if (has_value && !o->arg)
		refuse_option(program, _("option '--%s' doesn't allow an argument"), o->name);
	if (!has_value && takes_next(o) && !next)
		refuse_option(program, _("option '--%s' requires an argument"), o->name);
	return !has_value && takes_next(o);
}

static int check_letters(const struct sp_help *help, const char *program, const char *word,
			 const char *next)
{
	for (const char *at = word + 1; *at; at++) {
		const struct argp_option *o = letter_find(help, *at);

		if (!o)
			refuse_option(program, _("invalid option -- '%c'"), *at);
		if (!o->arg)
			continue;
		if (!at[1] && takes_next(o) && !next)
			refuse_option(program, _("option requires an argument -- '%c'"), *at);
		return !at[1] && takes_next(o);
	}
	return 0;
}

/* As getopt does, whose messages are English. */
static void check_options(const struct sp_help *help, int argc, char **argv, bool in_order)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;

		if (strncmp(argv[i], "--", 2) == 0)
			i += check_long(help, argv[0], argv[i], next);
		else if (argv[i][0] == '-' && argv[i][1])
			i += check_letters(help, argv[0], argv[i], next);
		else if (in_order)
			return;
	}
}

static bool is_asked(int argc, char **argv, bool in_order)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0)
			return true;
		if (in_order && argv[i][0] != '-')
			return false;
	}
	return false;
}

void sp_help_answer(const struct sp_help *help, int argc, char **argv, bool in_order)
{
	bool is_english = strcmp(sp_translate_code(), "en") == 0;

	if (!is_asked(argc, argv, in_order)) {
		if (!is_english)
			check_options(help, argc, argv, in_order);
		return;
	}
	print(stdout, help);
	sp_help_end();
}

void sp_help_end(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		exit(EXIT_SUCCESS);
	fprintf(stderr, "%s: stdout: %s\n", program_invocation_short_name,
		sp_translate_errno(errno));
	exit(EXIT_FAILURE);
}
