/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/settings/dormant.h"

#include <string.h>

/* Texts, not pointers, which would be in each process's own memory: the loader stores to them. */
static const struct dormant {
	char name[31], starts;
} dormant[] = {
#define SP_DORMANT(name) {name, 0},
#define SP_DORMANT_START(name) {name, 1},
#include "preload/settings/dormant.def"
#undef SP_DORMANT_START
#undef SP_DORMANT
};

int sp_dormant_matches(const char *exe, const char *name, size_t length)
{
	const char *rest = exe + length;

	if (strncmp(exe, name, length) != 0)
		return 0;
	if (*rest != '-' && *rest != '.')
		return *rest == 0;
	return (rest[1] >= '0' && rest[1] <= '9') || strcmp(rest, ".exe") == 0 ||
	       strcmp(exe, "ld.bfd") == 0 || strcmp(exe, "ld.gold") == 0 ||
	       strcmp(exe, "ld.lld") == 0;
}

static const struct dormant *row_of(const char *exe)
{
	for (size_t i = 0; i < sizeof(dormant) / sizeof(dormant[0]); i++)
		if (sp_dormant_matches(exe, dormant[i].name, strlen(dormant[i].name)))
			return &dormant[i];
	return NULL;
}

int sp_dormant_is(const char *exe)
{
	return row_of(exe) != NULL;
}

int sp_dormant_starts_nothing(const char *exe)
{
	const struct dormant *row = row_of(exe);

	return row && !row->starts;
}

void sp_dormant_drop_triplet(char *exe)
{
	static const char *const tools[] = {"-gcc", "-g++", "-cpp", "-ld", "-as", "-ar", "-nm"};

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		char *at = strstr(exe, tools[i]);

		if (at && strstr(exe, "-linux-"))
			memmove(exe, at + 1, strlen(at));
	}
}
