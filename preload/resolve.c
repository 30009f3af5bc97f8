#include "preload/resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "preload/dlsym_stub.h"
#include "preload/glibc.h"
#include "preload/hot.h"
#include "preload/imports.h"
#include "preload/originals.h"
#include "preload/say.h"
#include "preload/sys.h"

#define OBJECTS_MAX 1024 /* loaded objects that are looked through */

uint32_t sp_resolve_generation SP_HOT_DATA = 1;

void sp_resolve_forget(void)
{
	__atomic_add_fetch(&sp_resolve_generation, 1, __ATOMIC_SEQ_CST);
}

static struct link_map *object_at(const void *address)
{
	struct link_map *object = NULL;
	Dl_info info;

	if (!sp_has_glibc() || !dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP))
		return NULL;
	return object;
}

static void *unless_ours(const struct sp_foreign *foreign, void *found)
{
	return found == foreign->wrapper ? NULL : found;
}

/* In the object and what it is linked to, breadth first. */
static void *find_below(const struct sp_foreign *foreign, const struct link_map *object,
			const char *version)
{
	const char *path = object->l_name[0] ? object->l_name : NULL;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *found = NULL;

	if (!handle)
		return NULL;
	if (version && sp_has_glibc())
		found = dlvsym(handle, foreign->name, version);
	if (!found)
		found = sp_dlsym_next(handle, foreign->name); /* dlsym itself may answer with our own */
	SP_REAL(dlclose)(handle);
	return unless_ours(foreign, found);
}

/* The same, where the object itself defines it. */
static void *find_inside(const struct sp_foreign *foreign, const struct link_map *object,
			 const char *version)
{
	void *found = find_below(foreign, object, version);

	return found && object_at(found) == object ? found : NULL;
}

static void *find_by_family(const struct sp_foreign *foreign, const struct link_map *caller,
			    const char *version)
{
	const struct link_map *ours = object_at(foreign->wrapper);
	struct sp_imports imports;
	struct sp_import import;
	void *found = NULL;

	sp_imports_begin(&imports, caller);
	while (!found && sp_imports_next(&imports, &import)) {
		const struct link_map *bound;

		if (!import.bound || strncmp(import.name, foreign->family, strlen(foreign->family)) != 0)
			continue;
		/* One not bound yet (lazily) still leads into the caller. */
		bound = object_at(*import.bound);
		if (bound && bound != caller && bound != ours)
			found = find_inside(foreign, bound, version);
	}
	return found;
}

static void *find_global(const struct sp_foreign *foreign, const char *version)
{
	void *found = version && sp_has_glibc() ? dlvsym(RTLD_NEXT, foreign->name, version) :
						  dlsym(RTLD_NEXT, foreign->name);

	return unless_ours(foreign, found);
}

static void *find_for_importer(const struct sp_foreign *foreign, const struct link_map *object)
{
	struct sp_import import;
	void *found;

	if (!object || !sp_import_find(object, foreign->name, &import))
		return NULL;
	found = find_by_family(foreign, object, import.version);
	if (!found)
		found = find_global(foreign, import.version);
	return found ? found : find_below(foreign, object, import.version);
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

static void *find_anywhere(const struct sp_foreign *foreign)
{
	struct objects objects = {.count = 0};
	void *found = NULL;

	dl_iterate_phdr(object_note, &objects);
	for (unsigned i = 0; !found && i < objects.count; i++)
		found = find_for_importer(foreign, object_at(objects.inside[i]));
	if (!found)
		found = find_global(foreign, NULL);
	for (unsigned i = 0; !found && i < objects.count; i++) {
		const struct link_map *object = object_at(objects.inside[i]);

		found = object ? find_inside(foreign, object, NULL) : NULL;
	}
	return found;
}

static void *find(const struct sp_foreign *foreign, const void *maker, const void *caller)
{
	const struct link_map *object = maker ? object_at(maker) : NULL;
	void *found = object ? find_inside(foreign, object, NULL) : NULL;

	if (!found)
		found = find_for_importer(foreign, object_at(caller));
	if (!found && object_at(caller))
		found = find_inside(foreign, object_at(caller), NULL);
	return found ? found : find_anywhere(foreign);
}

/* A handler or thread that finds the place being written leaves it alone. */
static void site_store(struct sp_foreign *foreign, const void *key, uint32_t generation,
		       void *function)
{
	struct sp_foreign_site *site = sp_foreign_site(foreign, key);
	uint32_t sequence = __atomic_load_n(&site->sequence, __ATOMIC_RELAXED);

	if ((sequence & 1) ||
	    !__atomic_compare_exchange_n(&site->sequence, &sequence, sequence + 1, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&site->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&site->generation, generation, __ATOMIC_RELAXED);
	__atomic_store_n(&site->function, function, __ATOMIC_RELAXED);
	__atomic_store_n(&site->sequence, sequence + 2, __ATOMIC_RELEASE);
}

void *sp_foreign_find(struct sp_foreign *foreign, const void *maker, const void *caller)
{
	uint32_t generation = __atomic_load_n(&sp_resolve_generation, __ATOMIC_SEQ_CST);
	int kept = errno;
	void *found = find(foreign, maker, caller);

	dlerror(); /* the host must not find the failures of our looking around */
	if (!found) {
		sp_say("no library defines", foreign->name, 0, "the program calls it nonetheless");
		SP_SYS1(SYS_exit_group, 127);
	}
	site_store(foreign, maker ? maker : caller, generation, found);
	errno = kept;
	return found;
}
