/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language that the user asked for, by the command line, STAGEPROF_LANG or the locale's
 * variables. No locale has to be installed.
 */
#ifndef STAGEPROF_ANALYZER_LANGUAGE_H
#define STAGEPROF_ANALYZER_LANGUAGE_H

#include "analyzer/text/translate.h"

/* name: a code or a locale's name, "zh_CN", "zh-CN", "zh", "zh_CN.UTF-8@modifier". False where
 * no language has this name. */
bool sp_language_find(const char *name, enum sp_language *ret);

/* "en, zh_CN" */
const char *sp_language_names(void);

struct sp_language_choice {
	enum sp_language language;
	const char *unknown; /* the value of STAGEPROF_LANG, which names no language; else NULL */
	bool is_ascii;	     /* LC_ALL asks for the C locale, and nothing for another language */
	const char *locale;  /* the locale, where its encoding forces English; else NULL */
};

/*
 * asked: the command line's choice, or NULL. Without it STAGEPROF_LANG decides; without both, as in
 * gettext(3), LC_ALL, LC_MESSAGES or LANG, and, unless that is "C", LANGUAGE before it.
 */
struct sp_language_choice sp_language_choose(const enum sp_language *asked);

#endif
