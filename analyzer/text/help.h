/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --help in another language than English. argp prints the English one; it breaks lines by bytes
 * and between blanks, and Chinese has no blanks.
 */
#ifndef STAGEPROF_ANALYZER_HELP_H
#define STAGEPROF_ANALYZER_HELP_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

struct sp_help {
	const char *usages; /* a line each */
	const char *before; /* English, as all texts here */
	const struct argp_option *options;
	const struct argp_option *settings; /* of the recorder; NULL: none */
	void (*after)(FILE *file);	    /* NULL: nothing */
};

/* If the arguments ask for --help and the language is not English: prints it on stdout and ends
 * the program. in_order: options end at the first other word. */
void sp_help_answer(const struct sp_help *help, int argc, char **argv, bool in_order);

/* For `after`; each translates its text. "  name: text", broken into lines. */
void sp_help_entry(FILE *file, const char *name, const char *text);
void sp_help_text(FILE *file, const char *text);

#endif
