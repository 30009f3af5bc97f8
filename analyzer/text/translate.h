/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates text for people. The text in the source is English and is the key, as with gettext,
 * whose tools keep the catalogues (analyzer/po/, scripts/translations). The catalogues are built
 * into the program. docs/LANGUAGES.md says why gettext(3) is not used.
 *
 * Text for machines is never translated: every text stays English while a sp_out of such a format
 * is open, and between sp_translate_pause(true) and sp_translate_pause(false).
 */
#ifndef STAGEPROF_ANALYZER_TRANSLATE_H
#define STAGEPROF_ANALYZER_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>

enum sp_language {
	SP_LANGUAGE_en,
#define SP_LANGUAGE(code, also, plural) SP_LANGUAGE_##code,
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
	SP_LANGUAGES
};

/* Sets the language of all text. Call it before other threads start. */
void sp_translate_into(enum sp_language language);

/* Switches to English (true) or back (false). Returns the state before the call, to restore it. */
bool sp_translate_pause(bool is_paused);

/*
 * The translated text, or `text` itself where the catalogue lacks it; any text may be given. The
 * result lives as long as the program or as `text`.
 */
const char *sp_translate(const char *text) __attribute__((format_arg(1)));

/* The form of a text with the number n in it. */
const char *sp_translate_plural(const char *one, const char *many, unsigned long n)
	__attribute__((format_arg(1), format_arg(2)));

/* The text of strerror(3). */
const char *sp_translate_errno(int error);

/* The code of the current language: "en", "zh_CN", … */
const char *sp_translate_code(void);

/* Markers for xgettext: _() translates here; N_() marks a text that is translated where it is
 * shown. */
#define _(text) sp_translate(text)
#define N_(text) text

#endif
