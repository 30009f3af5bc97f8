/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The imports of a loaded object: its relocations against undefined symbols, read from the
 * dynamic section as the dynamic linker left it (System V ABI, chapter 5; GNU symbol versions:
 * the LSB's "Symbol Versioning"). libc only, no allocation, no lock. The object must stay loaded
 * meanwhile.
 */
#ifndef STAGEPROF_PRELOAD_IMPORTS_H
#define STAGEPROF_PRELOAD_IMPORTS_H

#include <link.h>
#include <stddef.h>

struct sp_import {
	const char *name;
	const char *version;	  /* the required version, or NULL */
	const void *const *bound; /* where the address is kept; NULL: no such place */
};

struct sp_imports {
	const struct link_map *object;
	const ElfW(Rela) * tables[2];
	size_t counts[2];
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Half) * versions;
	const ElfW(Verneed) * needed;
	size_t needed_count;
	unsigned table;
	size_t at;
};

void sp_imports_begin(struct sp_imports *imports, const struct link_map *object);

/* Returns 1 and the next import, or 0 at the end. */
int sp_imports_next(struct sp_imports *imports, struct sp_import *ret);

/* Returns 1 where the object imports `name`. */
int sp_import_find(const struct link_map *object, const char *name, struct sp_import *ret);

#endif
