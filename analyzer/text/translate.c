/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/translate.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "analyzer/text/embed_file.h"

#define SP_LANGUAGE(code, also, plural)                                                            \
	SP_EMBED_FILE(sp_catalogue_##code, SP_CATALOGUE_FOLDER "/" #code ".mo");                   \
	extern const char sp_catalogue_##code[];
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE

/* "The Format of GNU MO Files", gettext's manual: offsets in the file; originals are in strcmp's
 * order. */
struct catalogue_header {
	uint32_t magic, revision, count, originals_at, translations_at;
};

struct catalogue_string {
	uint32_t bytes, at;
};

static const char *const codes[SP_LANGUAGES] = {
	"en",
#define SP_LANGUAGE(code, also, plural) #code,
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
};

static enum sp_language current;
static bool pausing;

void sp_translate_into(enum sp_language language)
{
	current = language;
}

bool sp_translate_pause(bool is_paused)
{
	bool was = pausing;

	pausing = is_paused;
	return was;
}

static enum sp_language language_now(void)
{
	return pausing ? SP_LANGUAGE_en : current;
}

const char *sp_translate_code(void)
{
	return codes[language_now()];
}

static const char *catalogue_of(enum sp_language language)
{
	static const char *const catalogues[SP_LANGUAGES] = {
		NULL,
#define SP_LANGUAGE(code, also, plural) sp_catalogue_##code,
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
	};

	return catalogues[language];
}

/* NULL where the catalogue has no translation. The translation of a plural is all of its forms,
 * each with a NUL. */
static const char *find(const char *catalogue, const char *text)
{
	const struct catalogue_header *h = (const void *)catalogue;
	const struct catalogue_string *originals = (const void *)(catalogue + h->originals_at);
	const struct catalogue_string *translations =
		(const void *)(catalogue + h->translations_at);
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(text, catalogue + originals[middle].at);

		if (order == 0)
			return catalogue + translations[middle].at;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const char *sp_translate(const char *text)
{
	enum sp_language language = language_now();
	const char *found;

	/* the key "" is the catalogue's own header */
	if (language == SP_LANGUAGE_en || !text || !*text)
		return text;
	found = find(catalogue_of(language), text);
	return found ? found : text;
}

static unsigned long plural_form(enum sp_language language, unsigned long n)
{
	switch (language) {
#define SP_LANGUAGE(code, also, plural)                                                            \
	case SP_LANGUAGE_##code:                                                                   \
		return (plural);
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
	default:
		return n != 1;
	}
}

const char *sp_translate_plural(const char *one, const char *many, unsigned long n)
{
	enum sp_language language = language_now();
	unsigned long form = plural_form(language, n);
	const char *found = NULL;

	if (language != SP_LANGUAGE_en)
		found = find(catalogue_of(language), one);
	if (!found)
		return n == 1 ? one : many;
	while (form--)
		found += strlen(found) + 1;
	return found;
}

/* Errors of files, pipes and memory, in glibc's words. strerror(3) gives the text of any other. */
static const struct {
	int number;
	const char *text;
} errors[] = {
	{ENOMEM, N_("Cannot allocate memory")},	  {EBUSY, N_("Device or resource busy")},
	{EDQUOT, N_("Disk quota exceeded")},	  {EEXIST, N_("File exists")},
	{ENAMETOOLONG, N_("File name too long")}, {EFBIG, N_("File too large")},
	{EIO, N_("Input/output error")},	  {EINVAL, N_("Invalid argument")},
	{EISDIR, N_("Is a directory")},		  {ENOENT, N_("No such file or directory")},
	{ENOSPC, N_("No space left on device")},  {ENOTDIR, N_("Not a directory")},
	{EPERM, N_("Operation not permitted")},	  {EACCES, N_("Permission denied")},
	{EROFS, N_("Read-only file system")},	  {ELOOP, N_("Too many levels of symbolic links")},
	{EMFILE, N_("Too many open files")},	  {EPIPE, N_("Broken pipe")},
	{ESTALE, N_("Stale file handle")},	  {ENXIO, N_("No such device or address")},
};

const char *sp_translate_errno(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == error)
			return sp_translate(errors[i].text);
	return strerror(error);
}
