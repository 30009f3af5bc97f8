/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/elf_symbols.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "preload/sys/hidden.h"

struct symbols {
	uintptr_t bias;
	const ElfW(Sym) * table;
	const char *strings;
	const uint32_t *hash;	     /* DT_GNU_HASH */
	const uint32_t *system_hash; /* DT_HASH */
	const ElfW(Half) * versions;
};

#define VERSION_IS_HIDDEN 0x8000 /* an older version of a name, which plain lookups pass over */

extern const char __ehdr_start[] SP_HIDDEN;

/* The dynamic linker has relocated these entries in most objects, not in all. */
static const void *entry_at(uintptr_t bias, uintptr_t value)
{
	return (const void *)(value < bias ? value + bias : value);
}

static struct symbols symbols_of(uintptr_t bias, const ElfW(Dyn) * dynamic)
{
	struct symbols symbols = {.bias = bias};

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = entry_at(bias, dynamic->d_un.d_ptr);

		if (dynamic->d_tag == DT_SYMTAB)
			symbols.table = at;
		else if (dynamic->d_tag == DT_STRTAB)
			symbols.strings = at;
		else if (dynamic->d_tag == DT_GNU_HASH)
			symbols.hash = at;
		else if (dynamic->d_tag == DT_HASH)
			symbols.system_hash = at;
		else if (dynamic->d_tag == DT_VERSYM)
			symbols.versions = at;
	}
	return symbols;
}

/* Not strcmp, because a sanitizer's strcmp looks libc's up by dlsym before it works. */
static int is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* Layout of the table: number of buckets, first hashed symbol, words of the filter, a shift; then
 * filter, buckets, chains. */
static void *find(const struct symbols *symbols, const char *name)
{
	uint32_t hash = hash_of(name), buckets, first, i;
	const uint32_t *bucket, *chain;

	if (!symbols->hash || !symbols->table || !symbols->strings)
		return NULL;
	buckets = symbols->hash[0];
	first = symbols->hash[1];
	bucket = symbols->hash + 4 + symbols->hash[2] * (sizeof(ElfW(Addr)) / 4);
	chain = bucket + buckets;
	i = buckets ? bucket[hash % buckets] : 0;
	if (i < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *symbol = &symbols->table[i];

		if ((chain[i - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    !(symbols->versions && (symbols->versions[i] & VERSION_IS_HIDDEN)) &&
		    is_same(symbols->strings + symbol->st_name, name))
			return (void *)(symbols->bias + symbol->st_value);
		if (chain[i - first] & 1)
			return NULL;
	}
}

/* The dynamic linker's lists for debuggers, in glibc and in musl: their entries begin alike. Not
 * dl_iterate_phdr, because a sanitizer's own one looks libc's up by dlsym before it works. */
#pragma weak _r_debug
extern const struct r_debug *_dl_debug_addr __attribute__((weak));

static const struct link_map *first_object(void)
{
	if (&_r_debug)
		return _r_debug.r_map;
	return &_dl_debug_addr ? _dl_debug_addr->r_map : NULL;
}

static int is_ours(const struct link_map *object)
{
	return object->l_addr == (uintptr_t)__ehdr_start;
}

static void *find_until(const struct link_map *object, const char *name)
{
	void *found = NULL;

	for (; !found && object && !is_ours(object); object = object->l_next) {
		struct symbols symbols = symbols_of(object->l_addr, object->l_ld);

		found = find(&symbols, name);
	}
	return found;
}

void *sp_symbol_after_us(const char *name)
{
	const struct link_map *object = first_object();
	void *found;

	while (object && !is_ours(object))
		object = object->l_next;
	found = object ? find_until(object->l_next, name) : NULL;
	/* The host may have loaded this library late, after libc. */
	return found ? found : find_until(first_object(), name);
}

void *sp_symbol_of_ours(const char *name)
{
	struct symbols symbols = symbols_of((uintptr_t)__ehdr_start, _DYNAMIC);

	return find(&symbols, name);
}

/* Nobody relocates the kernel's object, so that its addresses are all offsets. */
static const ElfW(Dyn) * kernel_dynamic(const ElfW(Ehdr) * head, uintptr_t *ret_bias)
{
	const ElfW(Phdr) *part = (const void *)((uintptr_t)head + head->e_phoff);
	const ElfW(Dyn) *dynamic = NULL;
	uintptr_t first = 0;

	for (unsigned i = head->e_phnum; i-- > 0;) {
		if (part[i].p_type == PT_LOAD)
			first = part[i].p_vaddr - part[i].p_offset;
		else if (part[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)((uintptr_t)head + part[i].p_offset);
	}
	*ret_bias = (uintptr_t)head - first;
	return dynamic;
}

/* Kernels for aarch64 before 5.9 have the older table alone; its second word counts the symbols. */
static void *find_one_by_one(const struct symbols *symbols, const char *name)
{
	uint32_t count = symbols->system_hash ? symbols->system_hash[1] : 0;

	if (!symbols->table || !symbols->strings)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		const ElfW(Sym) *symbol = &symbols->table[i];

		if (symbol->st_shndx != SHN_UNDEF &&
		    is_same(symbols->strings + symbol->st_name, name))
			return (void *)(symbols->bias + symbol->st_value);
	}
	return NULL;
}

void *sp_symbol_of_kernel(const char *name)
{
	const ElfW(Ehdr) *head = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Dyn) * dynamic;
	struct symbols symbols;
	uintptr_t bias;

	dynamic = head ? kernel_dynamic(head, &bias) : NULL;
	if (!dynamic)
		return NULL;
	symbols = symbols_of(bias, dynamic);
	return symbols.hash ? find(&symbols, name) : find_one_by_one(&symbols, name);
}
