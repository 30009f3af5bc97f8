/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/language.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_BYTES 64u

static const struct {
	const char *code, *also;
} languages[SP_LANGUAGES] = {
	{"en", " C POSIX "},
#define SP_LANGUAGE(code, also, plural) {#code, also},
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
};

/* Without codeset and modifier, and with "_" for "-". */
static void strip(char ret[NAME_BYTES], const char *name)
{
	size_t n = strcspn(name, ".@");

	n = n < NAME_BYTES ? n : NAME_BYTES - 1;
	for (size_t i = 0; i < n; i++)
		ret[i] = name[i] == '-' ? '_' : name[i];
	ret[n] = '\0';
}

static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (list = strchr(list, ' '); list; list = strchr(list + 1, ' '))
		if (strncasecmp(list + 1, name, n) == 0 && list[1 + n] == ' ')
			return true;
	return false;
}

bool sp_language_find(const char *name, enum sp_language *ret)
{
	char plain[NAME_BYTES];

	strip(plain, name);
	*ret = SP_LANGUAGE_en;
	if (!*plain)
		return false;
	for (int i = 0; i < SP_LANGUAGES; i++) {
		if (strcasecmp(plain, languages[i].code) == 0 ||
		    is_listed(languages[i].also, plain)) {
			*ret = (enum sp_language)i;
			return true;
		}
	}
	return strncasecmp(plain, "en_", 3) == 0;
}

const char *sp_language_names(void)
{
	return "en"
#define SP_LANGUAGE(code, also, plural) ", " #code
#include "analyzer/text/languages.def"
#undef SP_LANGUAGE
		;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* NULL where no variable is set. */
static const char *locale_of(const char *category)
{
	const char *all = variable("LC_ALL"), *one = variable(category);

	return all ? all : one ? one : variable("LANG");
}

static bool is_c(const char *locale)
{
	return locale && (strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0);
}

/* LANGUAGE is a list, best first. */
static bool find_listed(const char *list, enum sp_language *ret)
{
	char name[NAME_BYTES];

	while (*list) {
		size_t n = strcspn(list, ":");

		if (n < sizeof(name)) {
			memcpy(name, list, n);
			name[n] = '\0';
			if (sp_language_find(name, ret))
				return true;
		}
		list += n + (list[n] == ':');
	}
	return false;
}

static enum sp_language language_of_locale(void)
{
	const char *locale = locale_of("LC_MESSAGES"), *list = variable("LANGUAGE");
	enum sp_language language = SP_LANGUAGE_en;

	if (!locale || is_c(locale))
		return SP_LANGUAGE_en;
	if (!list || !find_listed(list, &language))
		sp_language_find(locale, &language);
	return language;
}

static bool is_utf8(const char *codeset, size_t bytes)
{
	return (bytes == 5 && strncasecmp(codeset, "UTF-8", 5) == 0) ||
	       (bytes == 4 && strncasecmp(codeset, "utf8", 4) == 0);
}

/*
 * True where the locale names another encoding than UTF-8. A locale that names none ("C", or one
 * that is not installed) more often belongs to a container than to a terminal without UTF-8.
 */
static bool is_of_another_codeset(const char *locale)
{
	const char *dot = strchr(locale, '.');
	const char *codeset;
	locale_t loaded;
	bool is_other;

	if (is_c(locale))
		return false;
	if (dot)
		return !is_utf8(dot + 1, strcspn(dot + 1, "@"));
	loaded = newlocale(LC_CTYPE_MASK, locale, (locale_t)0);
	if (loaded == (locale_t)0)
		return false;
	codeset = nl_langinfo_l(CODESET, loaded);
	is_other = !is_utf8(codeset, strlen(codeset));
	freelocale(loaded);
	return is_other;
}

struct sp_language_choice sp_language_choose(const enum sp_language *asked)
{
	struct sp_language_choice choice = {.language = SP_LANGUAGE_en};
	const char *own = variable("STAGEPROF_LANG"), *locale = locale_of("LC_CTYPE");

	if (asked) {
		choice.language = *asked;
	} else if (!own || !sp_language_find(own, &choice.language)) {
		choice.unknown = own;
		choice.language = language_of_locale();
	}
	choice.is_ascii = choice.language == SP_LANGUAGE_en && is_c(variable("LC_ALL"));
	if (choice.language != SP_LANGUAGE_en && locale && is_of_another_codeset(locale)) {
		choice.language = SP_LANGUAGE_en;
		choice.locale = locale;
	}
	return choice;
}
