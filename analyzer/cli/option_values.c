/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/option_values.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/help.h"
#include "analyzer/text/translate.h"

#define INTERVAL_NS_MIN INT64_C(100000000)

void sp_option_refuse(const struct argp_state *state, enum sp_report_error error,
		      const char *format, ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), sp_translate(format), args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, " [%s]", sp_report_error(error)->code);
	sp_help_refuse(state, text);
}

uint64_t sp_option_number(struct argp_state *state, const char *what, const char *text,
			  uint64_t max)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || n > max)
		bad_value(state, "--%s: %s is not a number up to %llu", what, text,
			  (unsigned long long)max);
	return n;
}

int sp_option_word(struct argp_state *state, const char *what, const char *text,
		   const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	bad_value(state, "--%s: unknown value %s (see --help)", what, text);
	return 0;
}

int64_t sp_option_time(struct argp_state *state, const char *what, const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9},	  {"s", 1e9}, {"ms", 1e6}, {"us", 1e3},
		     {"µs", 1e3}, {"ns", 1},  {"m", 60e9}, {"h", 3600e9}};
	char *end;
	double x = strtod(text, &end);

	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 && fabs(x * units[i].ns) < 9e18)
			return (int64_t)llround(x * units[i].ns);
	bad_value(state, "--%s: %s is not a time (such as 1.5, 300ms, 2m)", what, text);
	return 0;
}

void sp_option_steps(struct argp_state *state, struct sp_step_selection *steps, const char *text)
{
	const char *colon = strchr(text, ':');
	char from[32];

	if (!colon || (size_t)(colon - text) >= sizeof(from)) {
		bad_value(state, "--steps: %s is not a range (such as 10:20)", text);
		return;
	}
	memcpy(from, text, (size_t)(colon - text));
	from[colon - text] = '\0';
	steps->from = 0; /* of an option before */
	steps->to = UINT32_MAX;
	if (*from)
		steps->from = (uint32_t)sp_option_number(state, "steps", from, UINT32_MAX);
	if (colon[1])
		steps->to = (uint32_t)sp_option_number(state, "steps", colon + 1, UINT32_MAX);
	if (steps->to <= steps->from)
		bad_value(state,
			  "--steps: %s has no step: the first number is the first step, "
			  "the second one comes after the last",
			  text);
}

void sp_option_thresholds(struct argp_state *state, struct sp_wait_thresholds *ret,
			  const char *text)
{
	char *end = NULL;
	double moderate = strtod(text, &end), severe = 0;
	bool fits = end != text && *end == ':';

	if (fits) {
		const char *second = end + 1;

		severe = strtod(second, &end);
		fits = end != second && *end == '\0' && moderate >= 0 && severe >= moderate &&
		       severe <= 100;
	}
	if (!fits)
		bad_value(state, "--wait-thresholds: %s is not a pair of percents (such as 5:20)",
			  text);
	*ret = (struct sp_wait_thresholds){moderate / 100, severe / 100};
}

double sp_option_percent(struct argp_state *state, const char *what, const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(x >= 0 && x <= 1000))
		bad_value(state, "--%s: %s is not a percentage from 0 to 1000 (such as 5%%)", what,
			  text);
	return x / 100;
}

uint64_t sp_option_interval(struct argp_state *state, const char *what, const char *text)
{
	int64_t ns = sp_option_time(state, what, text);

	if (ns < INTERVAL_NS_MIN)
		bad_value(state, "--%s: %s is below 100ms", what, text);
	return (uint64_t)ns;
}
