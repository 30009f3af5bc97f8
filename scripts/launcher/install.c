/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/install.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "scripts/launcher/command.h"
#include "scripts/launcher/program.h"
#include "scripts/launcher/launcher_error.h"

#define LIBRARY "libstageprof.so"
#define REPORT "stageprof-report"
#define LAUNCHER "stageprof"

/* The folder of this program, without a final slash, as it was when first asked: pip moves the file
 * away where it upgrades stageprof during a run, and the link follows. Without /proc, that of the
 * name by which it was begun. NULL: unknown. */
static const char *own_folder(void)
{
	static char folder[PATH_MAX];
	char path[PATH_MAX] = "";

	if (folder[0])
		return folder;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0 &&
	    !realpath((const char *)getauxval(AT_EXECFN), path))
		return NULL;
	*strrchr(path, '/') = '\0';
	strcpy(folder, path);
	return folder[0] ? folder : NULL;
}

static int find_beside(char *ret, const char *const *places, const char *name)
{
	const char *folder = own_folder();
	char path[2 * SP_PATH_BYTES];

	if (!folder)
		return -ENOENT;
	for (; *places; places++) {
		snprintf(path, sizeof(path), "%s/%s%s", folder, *places, name);
		if (realpath(path, ret))
			return 0;
	}
	return -ENOENT;
}

int sp_install_find_library(char *ret)
{
	static const char *const places[] = {"", SP_BIN_TO_LIB "/", "../lib/", NULL};

	return find_beside(ret, places, LIBRARY);
}

int sp_install_library(char *ret, const char *given)
{
	if (given ? !realpath(given, ret) : sp_install_find_library(ret) < 0) {
		sp_error_print(SP_ERROR_library_missing, given ? given : LIBRARY,
			       given ? strerror(errno)
				     : N_("it is neither beside this program nor in its prefix"),
			       NULL);
		return SP_STATUS_OURS;
	}
	return 0;
}

static int find_program(char *ret, const char *name)
{
	static const char *const places[] = {"", NULL};

	return find_beside(ret, places, name);
}

int sp_install_report(char *ret)
{
	return find_program(ret, REPORT);
}

static const char *word_of(char ret[SP_PATH_BYTES], const char *name)
{
	char ours[PATH_MAX], found[PATH_MAX], real[PATH_MAX];
	int is_beside = find_program(ours, name) == 0;

	if (sp_program_on_path(found, name) == 0 &&
	    (!is_beside || (realpath(found, real) && strcmp(real, ours) == 0)))
		return name;
	return is_beside ? strcpy(ret, ours) : NULL;
}

const char *sp_install_report_word(char ret[SP_PATH_BYTES])
{
	return word_of(ret, REPORT);
}

const char *sp_install_own_word(char ret[SP_PATH_BYTES])
{
	return word_of(ret, LAUNCHER);
}

/* A sanitizer's runtime refuses to run unless it is the first library. */
static int is_sanitizer(const char *entry, size_t bytes)
{
	static const char *const names[] = {"libasan",	 "libtsan", "libubsan",
					    "libhwasan", "liblsan", "libclang_rt"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (memmem(entry, bytes, names[i], strlen(names[i])))
			return 1;
	return 0;
}

static int is_ours(const char *entry, size_t bytes)
{
	return bytes >= strlen(LIBRARY) &&
	       memcmp(entry + bytes - strlen(LIBRARY), LIBRARY, strlen(LIBRARY)) == 0;
}

int sp_install_preload(const char *library)
{
	const char *old = getenv("LD_PRELOAD"), *entry = old ? old : "";
	char *list = calloc(1, strlen(entry) + strlen(library) + 3);
	int is_placed = 0, r;

	if (!list)
		return -ENOMEM;
	for (; *entry; entry += strcspn(entry, " :")) {
		size_t bytes;

		entry += strspn(entry, " :");
		bytes = strcspn(entry, " :");
		if (!bytes || is_ours(entry, bytes))
			continue;
		if (!is_placed && !is_sanitizer(entry, bytes))
			is_placed = !!strcat(strcat(list, *list ? ":" : ""), library);
		strncat(strcat(list, *list ? ":" : ""), entry, bytes);
	}
	if (!is_placed)
		strcat(strcat(list, *list ? ":" : ""), library);
	r = setenv("LD_PRELOAD", list, 1);
	free(list);
	return r < 0 ? -ENOMEM : 0;
}
