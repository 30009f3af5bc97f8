#include "analyzer/trouble.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/text.h"
#include "analyzer/translate.h"

static const struct sp_trouble_text troubles[] = {
#define SP_LAUNCHER_TROUBLE(id, code, what, fix)
#define SP_REPORT_TROUBLE(id, code, why, fix) {"stageprof-report", code, why, fix},
#include "analyzer/troubles.def"
#undef SP_REPORT_TROUBLE
#undef SP_LAUNCHER_TROUBLE
#define SP_LAUNCHER_TROUBLE(id, code, what, fix) {"stageprof", code, what, fix},
#define SP_REPORT_TROUBLE(id, code, why, fix)
#include "analyzer/troubles.def"
#undef SP_REPORT_TROUBLE
#undef SP_LAUNCHER_TROUBLE
};

const struct sp_trouble_text *sp_report_trouble(enum sp_report_trouble trouble)
{
	return &troubles[trouble];
}

const struct sp_trouble_text *sp_trouble_at(size_t i)
{
	return i < sizeof(troubles) / sizeof(troubles[0]) ? &troubles[i] : NULL;
}

void sp_report_trouble_line(char *ret, size_t ret_bytes, enum sp_report_trouble trouble, const char *value,
			    const char *why)
{
	const struct sp_trouble_text *text = &troubles[trouble];
	size_t used = 0;

	if (value) {
		sp_text_escape(ret, ret_bytes / 2, value, strlen(value));
		used = strlen(ret);
	}
	snprintf(ret + used, ret_bytes - used, "%s%s%s%s [%s]", value ? _(": ") : "", why ? why : _(text->says),
		 _("; "), _(text->fix), text->code);
}
