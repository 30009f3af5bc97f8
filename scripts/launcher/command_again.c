/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stageprof again: the last `stageprof run` of this directory, once more.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/translate.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/last_command.h"
#include "scripts/launcher/launcher_error.h"
#include "scripts/launcher/shell.h"

#define WORD_BYTES 4096u

static size_t count_of(char *const *words)
{
	size_t ret = 0;

	while (words[ret])
		ret++;
	return ret;
}

/* The given options come after the old ones, so that they count. Returns NULL: out of memory. */
static char **join(const struct sp_last_command *last, int argc, char **argv)
{
	size_t options = count_of(last->options), words = count_of(last->command), at = 1;
	char **ret = calloc(options + (size_t)argc + words + 2, sizeof(*ret));

	if (!ret)
		return NULL;
	memcpy(ret + at, last->options, options * sizeof(*ret));
	at += options;
	memcpy(ret + at, argv + 1, (size_t)(argc - 1) * sizeof(*ret));
	at += (size_t)argc - 1;
	ret[at++] = (char *)"--";
	memcpy(ret + at, last->command, words * sizeof(*ret));
	return ret;
}

static void print_words(char *const *words)
{
	char text[WORD_BYTES];

	fputs("stageprof run", stderr);
	for (; *words; words++)
		fprintf(stderr, " %s", sp_shell_quote(text, sizeof(text), *words));
	fputs("\n", stderr);
}

static bool is_refused(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-' || strcmp(argv[i], "--") == 0 || strcmp(argv[i], "-") == 0)
			return true;
	return false;
}

int sp_command_again(int argc, char **argv)
{
	bool asked = argc == 2 && strcmp(argv[1], "--help") == 0;
	struct sp_last_command last;
	char **words;

	if (asked || is_refused(argc, argv)) {
		fprintf(asked ? stdout : stderr, _("Usage: stageprof %s\n"),
			"again [-OPTION | --OPTION=VALUE]...");
		return asked ? SP_STATUS_OK : SP_STATUS_USAGE;
	}
	if (sp_last_command_load(&last) < 0) {
		sp_error_print(SP_ERROR_again, ".", N_("no run of this directory is known"), NULL);
		return SP_STATUS_USAGE;
	}
	words = join(&last, argc, argv);
	if (!words) {
		sp_error_print(SP_ERROR_process, "stageprof run", strerror(ENOMEM), NULL);
		return SP_STATUS_OURS;
	}
	print_words(words + 1);
	return sp_command_run((int)count_of(words + 1) + 1, words);
}
