/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/python_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/sys/elf_symbols.h"

struct sp_python sp_python;

/* Texts, not pointers, which would be in each process's own memory: the loader stores to them. */
static const struct {
	char name[44];
	uint16_t offset, later;
} table[] = {
#define SP_PYTHON_API(ret, name, ...) {#name, offsetof(struct sp_python, name), 0},
#define SP_PYTHON_API_LATER(ret, name, ...) {#name, offsetof(struct sp_python, name), 1},
#define SP_PYTHON_DATA(type, name) {#name, offsetof(struct sp_python, name), 0},
#include "preload/interpreter/python_api.def"
#undef SP_PYTHON_API
#undef SP_PYTHON_API_LATER
#undef SP_PYTHON_DATA
};

static int find_all(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		void *found = dlsym(RTLD_DEFAULT, table[i].name);

		if (!found && !table[i].later)
			return -ENOSYS;
		memcpy((char *)&sp_python + table[i].offset, &found, sizeof(found));
	}
	return 0;
}

/* "3.11.2 (main, …) [GCC …]" */
static int version_read(void)
{
	const char *version = sp_python.Py_GetVersion();
	char *end;

	sp_python.major = (int)strtol(version, &end, 10);
	sp_python.minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
	/* Objects have another header there. */
	if (strstr(version, "free-threading"))
		return -ENOSYS;
	if (sp_python.major != 3 || sp_python.minor < 8)
		return -ENOSYS;
	return 0;
}

int sp_python_find(void)
{
	int error;

	/* In most programs there is none, and a dlsym that fails would take memory of the host's
	 * heap and leave it a dlerror(3). */
	if (!sp_symbol_after_us("Py_IsInitialized"))
		return -ENOENT;
	error = find_all();
	return error ? error : version_read();
}
