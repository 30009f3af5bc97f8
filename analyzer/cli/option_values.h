/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of options. A value that does not fit ends the program with the status of a wrong
 * command line, after a line that says what fits. `what`: the option's name without "--".
 */
#ifndef STAGEPROF_ANALYZER_OPTION_VALUES_H
#define STAGEPROF_ANALYZER_OPTION_VALUES_H

#include <argp.h>
#include <stdint.h>

#include "analyzer/report/report.h"
#include "analyzer/text/error.h"

/* Ends the program; `format` is English and is translated. */
void sp_option_refuse(const struct argp_state *state, enum sp_report_error error,
		      const char *format, ...) __attribute__((format(printf, 3, 4)));

#define bad_value(state, ...) sp_option_refuse((state), SP_REPORT_ERROR_option_value, __VA_ARGS__)
#define bad_pair(state, ...) sp_option_refuse((state), SP_REPORT_ERROR_option_apart, __VA_ARGS__)
#define bad_word(state, ...) sp_option_refuse((state), SP_REPORT_ERROR_word_missing, __VA_ARGS__)

/* From 0 to max. */
uint64_t sp_option_number(struct argp_state *state, const char *what, const char *text,
			  uint64_t max);

/* Returns the index of the word in a NULL-terminated list. */
int sp_option_word(struct argp_state *state, const char *what, const char *text,
		   const char *const *words);

/* "1.5", "300ms", "2m" in ns; without a unit, seconds. */
int64_t sp_option_time(struct argp_state *state, const char *what, const char *text);

/* "A:B", "A:", ":B" */
void sp_option_steps(struct argp_state *state, struct sp_step_selection *steps, const char *text);

/* "5:20", in percent; returned as shares. */
void sp_option_thresholds(struct argp_state *state, struct sp_wait_thresholds *ret,
			  const char *text);

/* "5" or "5%" as the share 0.05. */
double sp_option_percent(struct argp_state *state, const char *what, const char *text);

/* As sp_option_time(): 100 ms or more. */
uint64_t sp_option_interval(struct argp_state *state, const char *what, const char *text);

#endif
