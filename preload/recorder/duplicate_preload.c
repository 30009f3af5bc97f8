/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/duplicate_preload.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

#include "preload/sys/hidden.h"

#define SONAME "libstageprof.so"

extern const char __ehdr_start[] SP_HIDDEN;

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *object)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(object->dlpi_addr +
						   object->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static int is_inside(const struct dl_phdr_info *object, ElfW(Addr) address)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
		    address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
			return 1;
	}
	return 0;
}

/* The name given at link time: the file itself may have any name. */
static int is_copy(const struct dl_phdr_info *object)
{
	const ElfW(Dyn) *entry = dynamic_of(object);
	ElfW(Addr) strings = 0, name = 0;

	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SONAME)
			name = entry->d_un.d_val;
		if (entry->d_tag == DT_STRTAB)
			strings = entry->d_un.d_ptr;
	}
	if (!name || !strings)
		return 0;
	/* glibc has added the load address in place, but not to what is read-only: the vDSO, which
	 * may have been linked for an address of its own (user-mode Linux) */
	if (!is_inside(object, strings + name))
		strings += object->dlpi_addr;
	if (!is_inside(object, strings + name))
		return 0;
	return strcmp((const char *)(strings + name), SONAME) == 0;
}

/* Objects come in load order, which is lookup order. A result other than 0 ends the walk. */
static int first_note(struct dl_phdr_info *object, size_t bytes, void *ret_path)
{
	(void)bytes;
	if (object->dlpi_addr == (ElfW(Addr))__ehdr_start)
		return 1;
	if (!is_copy(object))
		return 0;
	*(const char **)ret_path = object->dlpi_name;
	return 1;
}

const char *sp_duplicate_preload_first(void)
{
	const char *path = NULL;

	dl_iterate_phdr(first_note, &path);
	return path;
}

/* libc has the function, which is not hooked. */
static int libc_note(struct dl_phdr_info *object, size_t bytes, void *ret_is_late)
{
	(void)bytes;
	if (object->dlpi_addr == (ElfW(Addr))__ehdr_start)
		return 1;
	if (!is_inside(object, (ElfW(Addr))uname))
		return 0;
	*(int *)ret_is_late = 1;
	return 1;
}

int sp_preload_is_late(void)
{
	int is_late = 0;

	dl_iterate_phdr(libc_note, &is_late);
	return is_late;
}
