#include "preload/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/glibc.h"

struct symbols {
	uintptr_t bias;
	const ElfW(Sym) *table;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* The linker has relocated these entries in most objects, not in all. */
static const void *entry_at(uintptr_t bias, uintptr_t value)
{
	return (const void *)(value < bias ? value + bias : value);
}

static struct symbols symbols_of(uintptr_t bias, const ElfW(Dyn) *dynamic)
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
	}
	return symbols;
}

/* Not strcmp: a sanitizer's own asks dlsym for libc's before it can be called. */
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

/* The table: buckets, first symbol hashed, words of the filter, a shift; then filter, buckets, chains. */
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
		    is_same(symbols->strings + symbol->st_name, name))
			return (void *)(symbols->bias + symbol->st_value);
		if (chain[i - first] & 1)
			return NULL;
	}
}

/* musl's, for debuggers: its objects begin as glibc's do. */
extern const struct r_debug *_dl_debug_addr __attribute__((weak));

static const struct link_map *ourselves(void)
{
	struct link_map *object = NULL;
	Dl_info info;

	if (sp_has_glibc())
		return dladdr1(__ehdr_start, &info, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
	if (&_dl_debug_addr)
		object = _dl_debug_addr->r_map;
	while (object && object->l_addr != (uintptr_t)__ehdr_start)
		object = object->l_next;
	return object;
}

void *sp_symbol_after_us(const char *name)
{
	const struct link_map *object = ourselves();
	void *found = NULL;

	while (!found && object && (object = object->l_next)) {
		struct symbols symbols = symbols_of(object->l_addr, object->l_ld);

		found = find(&symbols, name);
	}
	return found;
}

void *sp_symbol_of_ours(const char *name)
{
	struct symbols symbols = symbols_of((uintptr_t)__ehdr_start, _DYNAMIC);

	return find(&symbols, name);
}
