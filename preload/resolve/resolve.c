/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/resolve/resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "preload/resolve/dlsym_next.h"
#include "preload/sys/glibc.h"
#include "preload/sys/hot_data.h"
#include "preload/resolve/imports.h"
#include "preload/resolve/originals.h"
#include "preload/sys/log_once.h"
#include "preload/sys/sys.h"
#include "preload/sys/libdl.h"

#define OBJECTS_MAX 1024 /* loaded objects that are searched */

uint32_t sp_resolve_generation SP_HOT_DATA = 1;

void sp_resolve_invalidate(void)
{
	__atomic_add_fetch(&sp_resolve_generation, 1, __ATOMIC_SEQ_CST);
}

static struct link_map *object_at(const void *address)
{
	struct link_map *object = NULL;
	Dl_info info;

	if (!sp_has_glibc() || !sp_dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP))
		return NULL;
	return object;
}

static void *unless_ours(const struct sp_caller_original *original, void *found)
{
	return found == original->wrapper ? NULL : found;
}

/* In the object and what it is linked to, breadth first. */
static void *find_below(const struct sp_caller_original *original, const struct link_map *object,
			const char *version)
{
	const char *path = object->l_name[0] ? object->l_name : NULL;
	void *handle = sp_dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *found = NULL;

	if (!handle)
		return NULL;
	if (version && sp_has_glibc())
		found = sp_dlvsym(handle, original->name, version);
	if (!found)
		found = sp_dlsym_next(handle,
				      original->name); /* dlsym itself may answer with our own */
	SP_REAL(dlclose)(handle);
	return unless_ours(original, found);
}

/* The function if the object itself defines it. */
static void *find_inside(const struct sp_caller_original *original, const struct link_map *object,
			 const char *version)
{
	void *found = find_below(original, object, version);

	return found && object_at(found) == object ? found : NULL;
}

static void *find_by_prefix(const struct sp_caller_original *original,
			    const struct link_map *caller, const char *version)
{
	const struct link_map *ours = object_at(original->wrapper);
	struct sp_imports imports;
	struct sp_import import;
	void *found = NULL;

	sp_imports_begin(&imports, caller);
	while (!found && sp_imports_next(&imports, &import)) {
		const struct link_map *bound;

		if (!import.bound || strncmp(import.name, original->symbol_prefix,
					     strlen(original->symbol_prefix)) != 0)
			continue;
		/* An import that is not bound yet (lazy binding) still points into the caller. */
		bound = object_at(*import.bound);
		if (bound && bound != caller && bound != ours)
			found = find_inside(original, bound, version);
	}
	return found;
}

static void *find_global(const struct sp_caller_original *original, const char *version)
{
	void *found = version && sp_has_glibc() ? sp_dlvsym(RTLD_NEXT, original->name, version)
						: dlsym(RTLD_NEXT, original->name);

	return unless_ours(original, found);
}

static void *find_for_importer(const struct sp_caller_original *original,
			       const struct link_map *object)
{
	struct sp_import import;
	void *found;

	if (!object || !sp_import_find(object, original->name, &import))
		return NULL;
	found = find_by_prefix(original, object, import.version);
	if (!found)
		found = find_global(original, import.version);
	return found ? found : find_below(original, object, import.version);
}

struct objects {
	const void *inside[OBJECTS_MAX];
	unsigned count;
};

/* Under the dynamic linker's lock: only addresses are taken along. */
static int object_note(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct objects *objects = argument;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC && objects->count < OBJECTS_MAX)
			objects->inside[objects->count++] =
				(const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return 0;
}

static void *find_anywhere(const struct sp_caller_original *original)
{
	struct objects objects = {.count = 0};
	void *found = NULL;

	dl_iterate_phdr(object_note, &objects);
	for (unsigned i = 0; !found && i < objects.count; i++)
		found = find_for_importer(original, object_at(objects.inside[i]));
	if (!found)
		found = find_global(original, NULL);
	for (unsigned i = 0; !found && i < objects.count; i++) {
		const struct link_map *object = object_at(objects.inside[i]);

		found = object ? find_inside(original, object, NULL) : NULL;
	}
	return found;
}

static void *find(const struct sp_caller_original *original, const void *library_addr,
		  const void *caller)
{
	const struct link_map *object = library_addr ? object_at(library_addr) : NULL;
	void *found = object ? find_inside(original, object, NULL) : NULL;

	if (!found)
		found = find_for_importer(original, object_at(caller));
	if (!found && object_at(caller))
		found = find_inside(original, object_at(caller), NULL);
	return found ? found : find_anywhere(original);
}

/* A handler or thread that finds the site being written leaves it alone. */
static void site_store(const struct sp_caller_original *original, const void *key,
		       uint32_t generation, void *function)
{
	struct sp_caller_site *site = sp_caller_site(original, key);
	uint32_t sequence = __atomic_load_n(&site->sequence, __ATOMIC_RELAXED);

	if ((sequence & 1) || !__atomic_compare_exchange_n(&site->sequence, &sequence, sequence + 1,
							   0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&site->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&site->generation, generation, __ATOMIC_RELAXED);
	__atomic_store_n(&site->function, function, __ATOMIC_RELAXED);
	__atomic_store_n(&site->sequence, sequence + 2, __ATOMIC_RELEASE);
}

void *sp_caller_original_find(const struct sp_caller_original *original, const void *library_addr,
			      const void *caller)
{
	uint32_t generation = __atomic_load_n(&sp_resolve_generation, __ATOMIC_SEQ_CST);
	int kept = errno;
	void *found = find(original, library_addr, caller);

	sp_dlerror_clear(); /* the host must not see the failures of our search */
	if (!found) {
		sp_log_once("no library defines", original->name, 0,
			    "the program calls it nonetheless");
		SP_SYS1(SYS_exit_group, 127);
	}
	site_store(original, library_addr ? library_addr : caller, generation, found);
	errno = kept;
	return found;
}
