/*
 * Which language is asked for: by the command line, STAGEPROF_LANG or the locale's variables. No locale has to be
 * installed for it.
 */
#ifndef STAGEPROF_ANALYZER_LANGUAGE_H
#define STAGEPROF_ANALYZER_LANGUAGE_H

#include "analyzer/translate.h"

/* name: a code or a locale's name, "zh_CN", "zh-CN", "zh", "zh_CN.UTF-8@modifier". False where there is none. */
bool sp_language_find(const char *name, enum sp_language *ret);

/* "en, zh_CN" */
const char *sp_language_names(void);

struct sp_language_choice {
	enum sp_language language;
	const char *unknown; /* the value of STAGEPROF_LANG, which names no language; else NULL */
	const char *locale;  /* its characters are not UTF-8, so it is English after all; else NULL */
};

/*
 * asked: by the command line; NULL: not. Else STAGEPROF_LANG; else, as gettext(3) does, LC_ALL, LC_MESSAGES or
 * LANG, and unless that is "C", LANGUAGE before it.
 */
struct sp_language_choice sp_language_choose(const enum sp_language *asked);

#endif
