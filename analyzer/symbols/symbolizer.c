/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_BYTES_MAX (256u << 20) /* for 11 million symbols */
#define NOTES_BYTES_MAX (64u << 10)  /* of a segment */
#define HEADERS_MAX 64u

struct symbol_table {
	Elf_Data *symbols;
	uint64_t texts, texts_bytes; /* the string table, as offset and bytes in the file */
};

/* O_PATH does not open a device or a FIFO, and the file that was checked is the file that is
 * opened. */
static int open_regular(const char *path, struct stat *ret)
{
	int looked = path[0] == '/' ? open(path, O_PATH | O_CLOEXEC) : -1, fd = -1;

	if (looked < 0)
		return path[0] == '/' ? -errno : -ENOENT;
	if (fstat(looked, ret) == 0 && S_ISREG(ret->st_mode)) {
		char again[32];

		snprintf(again, sizeof(again), "/proc/self/fd/%d", looked);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	} else {
		errno = EINVAL;
	}
	fd = fd < 0 ? -errno : fd;
	close(looked);
	return fd;
}

/* Returns the bytes of the build id among the notes; 0 where there is none. */
static uint32_t note_find(Elf_Data *notes, const uint8_t **ret)
{
	GElf_Nhdr head;
	size_t name, description;

	for (size_t at = 0; (at = gelf_getnote(notes, at, &head, &name, &description)) > 0;)
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof("GNU") &&
		    memcmp((const char *)notes->d_buf + name, "GNU", sizeof("GNU")) == 0) {
			*ret = (const uint8_t *)notes->d_buf + description;
			return head.n_descsz;
		}
	return 0;
}

static uint32_t build_find(Elf *elf, const uint8_t **ret)
{
	size_t headers = 0;
	uint32_t bytes = 0;

	elf_getphdrnum(elf, &headers);
	for (size_t i = 0; i < headers && i < HEADERS_MAX && !bytes; i++) {
		GElf_Phdr header;
		Elf_Data *notes;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE ||
		    header.p_filesz > NOTES_BYTES_MAX)
			continue;
		notes = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
					     header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (notes && notes->d_buf)
			bytes = note_find(notes, ret);
	}
	return bytes;
}

/* The latest change of any kind: a package's files may be older than their installation. */
static bool is_older(const struct stat *st, uint64_t ns)
{
	return st->st_ctim.tv_sec >= 0 &&
	       (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec < ns;
}

static bool is_same_build(Elf *elf, const struct stat *st, const struct sp_program_file *file)
{
	const uint8_t *build = NULL;
	uint32_t bytes = build_find(elf, &build);

	if (bytes != file->build_bytes)
		return false;
	return bytes ? memcmp(build, file->build, bytes) == 0 : is_older(st, file->loaded_ns);
}

static bool table_open(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		       struct symbol_table *ret)
{
	GElf_Shdr texts;

	if (header->sh_size > TABLE_BYTES_MAX ||
	    !gelf_getshdr(elf_getscn(elf, header->sh_link), &texts) || texts.sh_type != SHT_STRTAB)
		return false;
	ret->symbols = elf_getdata(section, NULL);
	ret->texts = texts.sh_offset;
	ret->texts_bytes = texts.sh_size;
	return ret->symbols && ret->symbols->d_type == ELF_T_SYM;
}

static int table_find(Elf *elf, struct symbol_table *ret)
{
	const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		GElf_Shdr header;

		for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
			if (gelf_getshdr(section, &header) && header.sh_type == types[i] &&
			    table_open(elf, section, &header, ret))
				return 0;
	}
	return -ENOEXEC;
}

/* 0 where the symbol is no function with an address. */
static unsigned rank_of(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_size == 0)
		return 0;
	return binding == STB_GLOBAL ? 3 : binding == STB_WEAK ? 2 : 1;
}

/* The index of the first address at or after `begin`; n where there is none. */
static size_t first_from(const struct sp_symbol *wanted, size_t n, uint64_t begin)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (wanted[middle].at < begin)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static void offer(struct sp_symbol *wanted, size_t n, const GElf_Sym *symbol)
{
	unsigned rank = rank_of(symbol);
	size_t i = rank ? first_from(wanted, n, symbol->st_value) : n;

	if (i == n ||
	    (wanted[i].rank && (symbol->st_value < wanted[i].begin ||
				(symbol->st_value == wanted[i].begin && rank <= wanted[i].rank))))
		return;
	wanted[i].begin = symbol->st_value;
	wanted[i].bytes = symbol->st_size;
	wanted[i].name = symbol->st_name;
	wanted[i].rank = rank;
}

/* Offers each symbol to the first address after the symbol's begin; the next addresses may lie
 * in it, too. */
static void search(Elf_Data *symbols, struct sp_symbol *wanted, size_t n)
{
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym(symbols, i, &symbol); i++)
		offer(wanted, n, &symbol);
	for (size_t i = 1; i < n; i++)
		if (!wanted[i].rank) {
			uint64_t at = wanted[i].at;

			wanted[i] = wanted[i - 1];
			wanted[i].at = at;
		}
}

/* Cuts the version off, "@@GLIBC_2.34". Returns false where there is no name. */
static bool name_read(int fd, const struct symbol_table *table, const struct sp_symbol *symbol,
		      char ret[SP_SYMBOL_BYTES])
{
	uint64_t most = SP_SYMBOL_BYTES - 1;
	ssize_t n;

	if (symbol->name >= table->texts_bytes || table->texts > INT64_MAX - symbol->name)
		return false;
	if (most > table->texts_bytes - symbol->name)
		most = table->texts_bytes - symbol->name;
	n = pread(fd, ret, most, (off_t)(table->texts + symbol->name));
	if (n <= 0)
		return false;
	ret[n] = '\0';
	ret[1 + strcspn(ret + 1, "@")] = '\0';
	return ret[0] != '\0';
}

static int find(int fd, const struct stat *st, Elf *elf, const struct sp_program_file *file,
		const struct sp_symbol_query *query)
{
	char name[SP_SYMBOL_BYTES];
	struct symbol_table table;
	int r;

	if (elf_kind(elf) != ELF_K_ELF)
		return -ENOEXEC;
	if (!is_same_build(elf, st, file))
		return -ESTALE;
	r = table_find(elf, &table);
	if (r < 0)
		return r;
	search(table.symbols, query->wanted, query->n);
	for (size_t i = 0; i < query->n; i++) {
		const struct sp_symbol *best = &query->wanted[i];

		if (best->rank && best->at - best->begin < best->bytes &&
		    name_read(fd, &table, best, name))
			query->found(query->context, i, name);
	}
	return 0;
}

int sp_symbols_find(const struct sp_program_file *file, const struct sp_symbol_query *query)
{
	struct stat st;
	int r, fd = open_regular(file->path, &st);
	Elf *elf;

	if (fd < 0)
		return fd;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ,
			NULL); /* not mapped: a file truncated meanwhile would raise SIGBUS */
	r = elf ? find(fd, &st, elf, file, query) : -ENOEXEC;
	elf_end(elf);
	close(fd);
	return r;
}
