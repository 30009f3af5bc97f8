/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/resolve/imports.h"

#include <string.h>

#if defined(__x86_64__)
#define RELOC_DATA R_X86_64_GLOB_DAT
#define RELOC_JUMP R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define RELOC_DATA R_AARCH64_GLOB_DAT
#define RELOC_JUMP R_AARCH64_JUMP_SLOT
#endif

/* glibc adds the load address to these pointers in place,
 * except in a read-only section (the vDSO). */
static const void *pointer_of(const struct link_map *object, const ElfW(Dyn) * entry)
{
	ElfW(Addr) address = entry->d_un.d_ptr;

	return (const void *)(address < object->l_addr ? address + object->l_addr : address);
}

static void entry_note(struct sp_imports *imports, const ElfW(Dyn) * entry)
{
	const void *pointer = pointer_of(imports->object, entry);

	switch (entry->d_tag) {
	case DT_JMPREL:
		imports->tables[0] = pointer;
		break;
	case DT_PLTRELSZ:
		imports->counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
		break;
	case DT_RELA:
		imports->tables[1] = pointer;
		break;
	case DT_RELASZ:
		imports->counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
		break;
	case DT_SYMTAB:
		imports->symbols = pointer;
		break;
	case DT_STRTAB:
		imports->strings = pointer;
		break;
	case DT_VERSYM:
		imports->versions = pointer;
		break;
	case DT_VERNEED:
		imports->needed = pointer;
		break;
	case DT_VERNEEDNUM:
		imports->needed_count = entry->d_un.d_val;
		break;
	}
}

void sp_imports_begin(struct sp_imports *imports, const struct link_map *object)
{
	memset(imports, 0, sizeof(*imports));
	imports->object = object;
	for (const ElfW(Dyn) *entry = object->l_ld; entry && entry->d_tag != DT_NULL; entry++)
		entry_note(imports, entry);
	for (unsigned i = 0; i < 2; i++)
		if (!imports->tables[i] || !imports->symbols || !imports->strings)
			imports->counts[i] = 0;
}

static const void *step(const void *from, size_t bytes)
{
	return (const char *)from + bytes;
}

static const char *version_of(const struct sp_imports *imports, size_t symbol)
{
	const ElfW(Verneed) *file = imports->needed;
	unsigned wanted = imports->versions ? imports->versions[symbol] & 0x7FFF : VER_NDX_GLOBAL;

	if (wanted <= VER_NDX_GLOBAL || !file)
		return NULL;
	for (size_t i = 0; i < imports->needed_count; i++) {
		const ElfW(Vernaux) *version = step(file, file->vn_aux);

		for (unsigned j = 0; j < file->vn_cnt; j++) {
			if (version->vna_other == wanted)
				return imports->strings + version->vna_name;
			version = step(version, version->vna_next);
		}
		file = step(file, file->vn_next);
	}
	return NULL;
}

int sp_imports_next(struct sp_imports *imports, struct sp_import *ret)
{
	for (; imports->table < 2; imports->table++, imports->at = 0) {
		while (imports->at < imports->counts[imports->table]) {
			const ElfW(Rela) *reloc = &imports->tables[imports->table][imports->at++];
			size_t symbol = ELF64_R_SYM(reloc->r_info);
			unsigned type = ELF64_R_TYPE(reloc->r_info);

			if (!symbol || imports->symbols[symbol].st_shndx != SHN_UNDEF)
				continue;
			ret->name = imports->strings + imports->symbols[symbol].st_name;
			ret->version = version_of(imports, symbol);
			ret->bound = NULL;
			if (type == RELOC_DATA || type == RELOC_JUMP)
				ret->bound = (const void *const *)(imports->object->l_addr +
								   reloc->r_offset);
			return 1;
		}
	}
	return 0;
}

int sp_import_find(const struct link_map *object, const char *name, struct sp_import *ret)
{
	struct sp_imports imports;

	sp_imports_begin(&imports, object);
	while (sp_imports_next(&imports, ret))
		if (strcmp(ret->name, name) == 0)
			return 1;
	return 0;
}
