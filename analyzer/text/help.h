/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --help, and errors of the command line in another language than English. argp breaks lines by
 * bytes and between blanks, and Chinese has no blanks; the help of argp in glibc 2.36 loses its
 * indent in long lists.
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

/* Prints the help and ends the program if the arguments ask for --help. In another language than
 * English, also prints the error of an option that does not exist or lacks its value. in_order:
 * options end at the first other word. */
void sp_help_answer(const struct sp_help *help, int argc, char **argv, bool in_order);

/* Ends the program after --help or --version: with an error and status 1 where stdout did not take
 * the whole text. */
_Noreturn void sp_help_end(void);

/* As argp_error(), also in another language than English; `text` is translated already. Ends the
 * program with the status of a wrong command line. */
void sp_help_refuse(const struct argp_state *state, const char *text);

/* For `after`; each translates its text. "  name: text", broken into lines. */
void sp_help_entry(FILE *file, const char *name, const char *text);
void sp_help_text(FILE *file, const char *text);

#endif
