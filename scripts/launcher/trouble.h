/*
 * What goes wrong, in one line on stderr: what, the value, why, the fix and a code to search for.
 */
#ifndef STAGEPROF_LAUNCHER_TROUBLE_H
#define STAGEPROF_LAUNCHER_TROUBLE_H

enum sp_trouble {
#define SP_REPORT_TROUBLE(id, code, why, fix)
#define SP_LAUNCHER_TROUBLE(id, code, what, fix) SP_TROUBLE_##id,
#include "analyzer/troubles.def"
#undef SP_LAUNCHER_TROUBLE
#undef SP_REPORT_TROUBLE
};

/* value is escaped; fix NULL: the table's. */
void sp_trouble_say(enum sp_trouble trouble, const char *value, const char *why, const char *fix);

#endif
