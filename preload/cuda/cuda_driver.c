/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/cuda/abi_cuda.h"
#include "preload/cuda/cuda_coverage.h"
#include "preload/cuda/cuda_time.h"
#include "preload/resolve/dlsym_next.h"
#include "preload/sys/object_range.h"
#include "preload/resolve/lookup_slots.h"
#include "preload/resolve/originals.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/hidden.h"
#include "preload/sys/libdl.h"

/* hooks_cuda_driver.c puts them there, one by one. */
extern const struct sp_driver_function *const __start_sp_drivers[] SP_HIDDEN;
extern const struct sp_driver_function *const __stop_sp_drivers[] SP_HIDDEN;

static int not_there(void)
{
	return SP_CUDA_NOT_INITIALIZED;
}

static const struct sp_driver_function *find_exported(const char *exported)
{
	for (const struct sp_driver_function *const *at = __start_sp_drivers;
	     at < __stop_sp_drivers; at++)
		for (unsigned i = 0; i < 2; i++)
			if ((*at)->exported[i] && !strcmp((*at)->exported[i], exported))
				return *at;
	return NULL;
}

/* The newest ABI of the requested version. */
static const struct sp_driver_function *find_named(const char *name, int version)
{
	const struct sp_driver_function *best = NULL;

	for (const struct sp_driver_function *const *at = __start_sp_drivers;
	     at < __stop_sp_drivers; at++)
		if (!strcmp((*at)->name, name) && (*at)->since <= version &&
		    (!best || best->since < (*at)->since))
			best = *at;
	return best;
}

static void *wrap(const struct sp_driver_function *driver, int per_thread, void *function)
{
	void *wrapper = function;
	int kept = errno;

	if (!driver || !sp_process)
		return function;
	for (unsigned i = 0; i < SP_DRIVER_FORMS; i++)
		if (driver->wrappers[i] == function)
			return function;
	for (unsigned i = 2; wrapper == function && i < SP_DRIVER_FORMS; i++)
		if (sp_lookup_slot_take(&driver->originals[i], function)) {
			driver->per_thread[i] = (uint8_t)per_thread;
			wrapper = driver->wrappers[i];
		}
	if (wrapper != function)
		sp_cuda_coverage_found(SP_CUDA_DRIVER, function);
	errno = kept;
	return wrapper;
}

/* Global scope first; PyTorch loads its driver stub RTLD_LOCAL. */
static void *find_original(const char *name)
{
	void *found = sp_dlsym_next(RTLD_NEXT, name), *handle;

	if (found)
		return found;
	handle = sp_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	found = sp_dlsym_next(handle, name);
	SP_REAL(dlclose)(handle);
	return found;
}

int sp_cuda_driver_knows(const char *exported)
{
	return find_exported(exported) != NULL;
}

void *sp_cuda_driver_wrap_exported(const char *exported, void *function)
{
	return wrap(find_exported(exported), sp_cuda_name_is_per_thread(exported), function);
}

/* The driver's own result for a known version. */
static void *ask(const char *name, int version, int per_thread)
{
	int (*get)(const char *, void **, int, uint64_t, int *) =
		(__typeof__(get))find_original("cuGetProcAddress_v2");
	uint64_t flags = per_thread ? SP_CUDA_LOOKUP_PER_THREAD : 0;
	void *function = NULL;

	/* The older form has no status: the register of the argument is left unread. */
	if (!get)
		get = (__typeof__(get))find_original("cuGetProcAddress");
	sp_dlerror_clear(); /* the host must not see our failure */
	return get && get(name, &function, version, flags, NULL) == 0 ? function : NULL;
}

/* An older driver may refuse the newest version that we know. */
static int is_of(const struct sp_driver_function *driver, int is_newest, int per_thread,
		 const void *function)
{
	return (is_newest && ask(driver->name, SP_CUDA_CHECKED, per_thread) == function) ||
	       ask(driver->name, driver->since, per_thread) == function;
}

/* An address that the driver also returns for a known version has that version's ABI. */
static const struct sp_driver_function *find_by_address(const char *name, int per_thread,
							const void *function)
{
	const struct sp_driver_function *newest = find_named(name, SP_CUDA_CHECKED);

	if (sp_is_own((uintptr_t)function))
		return NULL;
	for (const struct sp_driver_function *const *at = __start_sp_drivers;
	     at < __stop_sp_drivers; at++)
		if (!strcmp((*at)->name, name) && is_of(*at, *at == newest, per_thread, function))
			return *at;
	sp_cuda_coverage_unknown(newest->name);
	return NULL;
}

void *sp_cuda_driver_wrap(const char *name, int version, int per_thread, void *function)
{
	const struct sp_driver_function *driver;
	int kept = errno;

	if (!sp_process)
		return function;
	if (!find_named(name, SP_CUDA_CHECKED))
		return sp_cuda_driver_wrap_exported(name, function);
	driver = version == SP_DRIVER_ANY_VERSION || version > SP_CUDA_CHECKED
			 ? find_by_address(name, per_thread, function)
			 : find_named(name, version);
	errno = kept;
	return wrap(driver, per_thread, function);
}

void sp_cuda_driver_invalidate(void)
{
	int kept = errno;

	for (const struct sp_driver_function *const *at = __start_sp_drivers;
	     at < __stop_sp_drivers; at++)
		for (unsigned i = 0; i < 2; i++) {
			void *found = __atomic_load_n(&(*at)->originals[i], __ATOMIC_ACQUIRE);

			if (found && !sp_lookup_is_loaded(found))
				__atomic_store_n(&(*at)->originals[i], NULL, __ATOMIC_RELEASE);
		}
	errno = kept;
}

void *sp_cuda_driver_find(const struct sp_driver_function *function, void **original)
{
	int kept = errno;
	void *found = find_original(function->exported[original - function->originals]);

	if (found) {
		__atomic_store_n(original, found, __ATOMIC_RELEASE);
		sp_cuda_coverage_found(SP_CUDA_DRIVER, found);
	} else {
		sp_dlerror_clear(); /* the host must not find our failure */
	}
	errno = kept;
	return found ? found : (void *)not_there;
}
