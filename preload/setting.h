/*
 * What a setting's value looks like. No state: the launcher asks before it starts anything, the recorder in
 * its constructor.
 */
#ifndef STAGEPROF_PRELOAD_SETTING_H
#define STAGEPROF_PRELOAD_SETTING_H

#include <stdint.h>

/*
 * 1 where the value is of the form, or empty, which is unset. form: alternatives, between bars; "" for any
 * text. An alternative is the word itself, or in capitals a NUMBER, a TIME, FIRST-LAST, or one of these or
 * STAGE>TIME or MODULE:NAME with ",..." for a list.
 */
int sp_setting_fits(const char *form, const char *value);

/* "10-20", "10-", "10". *ret_end is not in it; UINT64_MAX: none. Returns 0, or -EINVAL. */
int sp_setting_range(const char *text, uint64_t *ret_first, uint64_t *ret_end);

/* Reads "10ms" (ns, us, ms, s) and goes behind it. Returns ns, or 0 where there is none. */
uint64_t sp_setting_time(const char **at);

#endif
