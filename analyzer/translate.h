/*
 * What people read, in their language. The text in the source is English and is the key, as with gettext,
 * whose tools keep the catalogues (analyzer/po/, scripts/translations); they are built into the program. Why
 * not gettext(3): docs/LANGUAGES.md.
 *
 * What machines read is never translated: while a sp_out of such a format is open, or between sp_translate_pause()
 * and its end, every text stays English.
 */
#ifndef STAGEPROF_ANALYZER_TRANSLATE_H
#define STAGEPROF_ANALYZER_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>

enum sp_language {
	SP_LANGUAGE_en,
#define SP_LANGUAGE(code, also, plural) SP_LANGUAGE_##code,
#include "analyzer/languages.def"
#undef SP_LANGUAGE
	SP_LANGUAGES
};

/* The language of all text from here on. Before other threads begin. */
void sp_translate_into(enum sp_language language);

/* English (or not) until it is called with what it returned, which is whether it was so before. */
bool sp_translate_pause(bool is_paused);

/*
 * The text in the language, or itself where the catalogue has none or `text` is not of ours; any text may be
 * asked for. Lives as long as the program or as `text`.
 */
const char *sp_translate(const char *text) __attribute__((format_arg(1)));

/* The form for n of a text with a number in it. */
const char *sp_translate_plural(const char *one, const char *many, unsigned long n)
	__attribute__((format_arg(1), format_arg(2)));

/* What strerror(3) says. */
const char *sp_translate_errno(int error);

/* The language that text is in now: "en", "zh_CN", … */
const char *sp_translate_code(void);

/* xgettext looks for these: text to translate here, and text that is translated where it is shown. */
#define _(text) sp_translate(text)
#define N_(text) text

#endif
