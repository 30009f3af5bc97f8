/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

struct written {
	char *at, *end;
	jmp_buf full;
};

/* The demangler allocates no memory and cannot be stopped. */
static void take(const char *text, size_t bytes, void *context)
{
	struct written *written = context;

	if (bytes > (size_t)(written->end - written->at))
		longjmp(written->full, 1);
	memcpy(written->at, text, bytes);
	written->at += bytes;
}

static size_t demangle(const char *name, int options, char ret[SP_DEMANGLED_BYTES])
{
	struct written written = {.at = ret, .end = ret + SP_DEMANGLED_BYTES};

	if (strncmp(name, "_Z", 2) != 0 || setjmp(written.full) != 0 ||
	    !cplus_demangle_v3_callback(name, options, take, &written))
		return 0;
	return (size_t)(written.at - ret);
}

const char *sp_demangle(const char *name, size_t *bytes, char ret[SP_DEMANGLED_BYTES])
{
	size_t n = strlen(name) == *bytes ? demangle(name, DMGL_PARAMS | DMGL_ANSI, ret) : 0;

	if (!n)
		return name;
	*bytes = n;
	return ret;
}

/* The bytes of a word at the text's start that contains no brackets; 0 where there is none. */
static size_t whole_word(const char *text, size_t bytes)
{
	static const char *const words[] = {"(anonymous namespace)",
					    "operator<<=",
					    "operator>>=",
					    "operator<=>",
					    "operator->*",
					    "operator<<",
					    "operator>>",
					    "operator<=",
					    "operator>=",
					    "operator->",
					    "operator()",
					    "operator<",
					    "operator>",
					    "->"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) <= bytes && memcmp(text, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return 0;
}

size_t sp_demangle_brief(const char *name, char ret[SP_BRIEF_BYTES])
{
	char plain[SP_DEMANGLED_BYTES];
	size_t bytes = demangle(name, DMGL_ANSI, plain), used = 0, n;
	const char *clone = memmem(plain, bytes, " [clone", 7);
	unsigned depth = 0;

	if (!bytes) {
		bytes = 1 + strcspn(name + (*name != '\0'), ".");
		snprintf(ret, SP_BRIEF_BYTES, "%.*s", (int)bytes, name);
		return strlen(ret);
	}
	bytes = clone ? (size_t)(clone - plain) : bytes;
	for (size_t i = 0; i < bytes && used < SP_BRIEF_BYTES - 1; i += n) {
		size_t whole = whole_word(plain + i, bytes - i);

		n = whole ? whole : 1;
		if (!whole && (plain[i] == '<' || plain[i] == '(')) {
			used -= used && !depth && ret[used - 1] == ' '; /* "operator<< <int>" */
			depth++;
		} else if (!whole && depth && (plain[i] == '>' || plain[i] == ')')) {
			depth--;
		} else if (!depth && n < SP_BRIEF_BYTES - used) {
			memcpy(ret + used, plain + i, n);
			used += n;
		}
	}
	ret[used] = '\0';
	return used;
}
