/*
 * What goes wrong, as analyzer/troubles.def has it: the codes of both programs. Texts are English; who shows them
 * translates.
 */
#ifndef STAGEPROF_ANALYZER_TROUBLE_H
#define STAGEPROF_ANALYZER_TROUBLE_H

#include <stddef.h>

enum sp_report_trouble {
#define SP_LAUNCHER_TROUBLE(id, code, what, fix)
#define SP_REPORT_TROUBLE(id, code, why, fix) SP_REPORT_TROUBLE_##id,
#include "analyzer/troubles.def"
#undef SP_REPORT_TROUBLE
#undef SP_LAUNCHER_TROUBLE
	SP_REPORT_TROUBLES
};

struct sp_trouble_text {
	const char *program, *code, *says, *fix; /* says "": what the system says */
};

/* Of stageprof-report. */
const struct sp_trouble_text *sp_report_trouble(enum sp_report_trouble trouble);

/* Of both programs, by number; NULL: there are no more. */
const struct sp_trouble_text *sp_trouble_at(size_t i);

/*
 * "VALUE: WHY; FIX [CODE]", translated. value is escaped; NULL: none. why NULL: the table's.
 */
void sp_report_trouble_line(char *ret, size_t ret_bytes, enum sp_report_trouble trouble, const char *value,
			    const char *why);

#endif
