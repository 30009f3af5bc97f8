#include "scripts/launcher/trouble.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/text.h"
#include "analyzer/translate.h"

static const struct {
	const char *code, *what, *fix;
} troubles[] = {
#define SP_REPORT_TROUBLE(id, code, why, fix)
#define SP_LAUNCHER_TROUBLE(id, code, what, fix) {code, what, fix},
#include "analyzer/troubles.def"
#undef SP_LAUNCHER_TROUBLE
#undef SP_REPORT_TROUBLE
};

void sp_trouble_say(enum sp_trouble trouble, const char *value, const char *why, const char *fix)
{
	char escaped[4096];

	sp_text_escape(escaped, sizeof(escaped), value, strlen(value));
	fprintf(stderr, _("stageprof: %s %s: %s; %s [%s]\n"), _(troubles[trouble].what), escaped, _(why),
		_(fix ? fix : troubles[trouble].fix), troubles[trouble].code);
}
