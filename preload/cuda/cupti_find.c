/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "preload/cuda/cupti_find.h"
#include "preload/resolve/dlsym_next.h"
#include "preload/resolve/originals.h"
#include "preload/sys/paths.h"
#include "preload/sys/libdl.h"

/* The loaded libraries of CUDA: names as the linker has them, or "". */
struct loaded {
	char cupti[PATH_MAX], runtime[PATH_MAX];
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Wheels may put a hash into the name: libcupti-1a2b3c4d.so.12. */
static int is_library(const char *name, const char *stem)
{
	size_t length = strlen(stem);

	return strncmp(name, stem, length) == 0 && (name[length] == '.' || name[length] == '-') &&
	       strstr(name, ".so");
}

static void keep(char *place, const char *path)
{
	struct sp_text text = sp_text_init(place, PATH_MAX);

	if (!*place)
		sp_text_add(&text, path);
}

static int loaded_note(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct loaded *loaded = argument;
	const char *name = base_name(info->dlpi_name);

	(void)size;
	if (is_library(name, "libcupti"))
		keep(loaded->cupti, info->dlpi_name);
	if (is_library(name, "libcudart"))
		keep(loaded->runtime, info->dlpi_name);
	return 0;
}

/* Folders of CUPTI in a toolkit, a distribution and the wheels of pip, relative to the runtime's
 * folder. */
static void *open_beside(const char *runtime, const char *name)
{
	static const char *const folders[] = {"", "../extras/CUPTI/lib64/",
					      "../../cuda_cupti/lib/"};
	char path[PATH_MAX + 64];
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct sp_text text = sp_text_init(path, sizeof(path));

		sp_text_add(&text, runtime);
		path[base_name(path) - path] = '\0';
		text = sp_text_init(path + strlen(path), sizeof(path) - strlen(path));
		sp_text_add(&text, folders[i]);
		sp_text_add(&text, name);
		library = sp_dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	}
	return library;
}

/* CUDA 11's sonames have the minor version, too. */
static void *open_by_name(const struct loaded *loaded)
{
	static const char *const names[] = {
		"libcupti.so.13",   "libcupti.so.12",	"libcupti.so.11.8", "libcupti.so.11.7",
		"libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
		"libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0",
	};
	const char *version = strstr(loaded->runtime, ".so.");
	size_t length = version ? strcspn(version + 4, ".") : 0;
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++) {
		if (length && strncmp(names[i] + strlen("libcupti.so."), version + 4, length) != 0)
			continue;
		if (*loaded->runtime)
			library = open_beside(loaded->runtime, names[i]);
		if (!library)
			library = sp_dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	}
	return library;
}

static void name_it(struct sp_cupti *cupti)
{
	struct sp_text text = sp_text_init(cupti->name, sizeof(cupti->name));
	Dl_info info;

	if (sp_dladdr((void *)cupti->cuptiGetVersion, &info) && info.dli_fname)
		sp_text_add(&text, base_name(info.dli_fname));
}

int sp_cupti_find(struct sp_cupti *cupti, const char **ret_missing)
{
	struct loaded loaded = {"", ""};
	void *library;

	*ret_missing = NULL;
	dl_iterate_phdr(loaded_note, &loaded);
	library = *loaded.cupti ? sp_dlopen(loaded.cupti, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (!library)
		library = open_by_name(&loaded);
	if (!library) {
		sp_dlerror_clear(); /* the host must not see our failure */
		return -ENOENT;
	}
#define SP_CUPTI_FUNCTION(function, parameters)                                                    \
	cupti->function = (int(*) parameters)sp_dlsym_next(library, #function);                    \
	if (!cupti->function && !*ret_missing)                                                     \
		*ret_missing = #function;
#include "preload/cuda/cupti_api.def"
#undef SP_CUPTI_FUNCTION
	sp_dlerror_clear();
	cupti->library = library; /* stays open: its threads may outlive us */
	if (!*ret_missing)
		name_it(cupti);
	return *ret_missing ? -ENOENT : 0;
}
