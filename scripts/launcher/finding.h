/*
 * What a check of doctor found.
 */
#ifndef STAGEPROF_LAUNCHER_FINDING_H
#define STAGEPROF_LAUNCHER_FINDING_H

enum sp_verdict {
	SP_VERDICT_OK,
	SP_VERDICT_SKIP, /* could not be checked, or does not apply: the text says why */
	SP_VERDICT_WARN, /* something will be missing in the report */
	SP_VERDICT_FAIL, /* nothing will be recorded */
};

struct sp_finding {
	enum sp_verdict verdict;
	char text[1024]; /* raw: whoever prints it escapes it */
	const char *fix; /* NULL where there is nothing to mend */
};

/* Fills it, translated; a text that does not fit is cut. fix is kept. */
void sp_find(struct sp_finding *f, enum sp_verdict verdict, const char *fix, const char *format,
	     ...) __attribute__((format(printf, 4, 5)));

#endif
