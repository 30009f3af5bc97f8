/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/version.h"

#include <string.h>

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "another processor"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *sp_version_text(void)
{
	return STAGEPROF_VERSION;
}

uint32_t sp_version_number(void)
{
	return STAGEPROF_VERSION_NUMBER;
}

void sp_version_of_number(char ret[16], uint32_t number)
{
	snprintf(ret, 16, "%u.%u.%u", number >> 16, number >> 8 & 0xff, number & 0xff);
}

bool sp_version_is_verbose(char *const *argv)
{
	for (; *argv; argv++)
		if (strcmp(*argv, "--verbose") == 0 || strcmp(*argv, "-v") == 0)
			return true;
	return false;
}

void sp_version_print(FILE *file, const char *name, bool is_verbose)
{
	fprintf(file, "%s %s\n", name, STAGEPROF_VERSION);
	if (is_verbose)
		fprintf(file, "build     %s, %s, %s, %s\n", MACHINE, COMPILER, STAGEPROF_BUILD_TYPE,
			STAGEPROF_IS_PORTABLE ? "for glibc 2.17 and later, with its libraries "
						"inside"
					      : "with the shared libraries of its system");
}
