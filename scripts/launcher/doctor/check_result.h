/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of one check of doctor.
 */
#ifndef STAGEPROF_LAUNCHER_CHECK_RESULT_H
#define STAGEPROF_LAUNCHER_CHECK_RESULT_H

enum sp_check_status {
	SP_CHECK_OK,
	SP_CHECK_SKIP, /* the check was impossible, or does not apply: the text says why */
	SP_CHECK_WARN, /* something will be missing in the report */
	SP_CHECK_FAIL, /* nothing will be recorded */
};

struct sp_check_result {
	enum sp_check_status status;
	char text[1024]; /* raw: the printer escapes it */
	const char *fix; /* NULL where nothing needs fixing */
};

/* Fills the result with translated texts; a long text is cut. `fix` is not copied. */
void sp_check_set(struct sp_check_result *result, enum sp_check_status status, const char *fix,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
