/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms of settings' values. No state: the launcher checks values before it starts a program, the
 * recorder in its constructor.
 */
#ifndef STAGEPROF_PRELOAD_SETTING_H
#define STAGEPROF_PRELOAD_SETTING_H

#include <stdint.h>

#define SP_SETTING_RATE_MAX 1000u /* a second */

/*
 * Returns 1 if the value has the form, or is empty, which means unset. form: alternatives,
 * separated by bars; "" for any text. An alternative is the word itself, or in capitals a NUMBER,
 * a TIME, a RATE (a second), FIRST-LAST, A:B (steps), SOME/MANY, STAGE>TIME or MODULE:NAME. ",..."
 * after alternatives makes a list of these.
 */
int sp_setting_fits(const char *form, const char *value);

/* "10-20", "10-", "10". *ret_end is exclusive; UINT64_MAX: none. Returns 0, or -EINVAL. */
int sp_setting_range(const char *text, uint64_t *ret_first, uint64_t *ret_end);

/* The same, and "10:20", "10:", ":20", which leave out step 20 as --steps of the report does. */
int sp_setting_steps(const char *text, uint64_t *ret_first, uint64_t *ret_end);

/* "4/200", where the first is at least 1 and less than the second. Returns 0, or -EINVAL. */
int sp_setting_part(const char *text, uint64_t *ret_some, uint64_t *ret_many);

/* Reads "10ms" (ns, us, ms, s) and moves past it. Returns ns, or 0 if there is no time. */
uint64_t sp_setting_time(const char **at);

#endif
