/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions of an ELF file at given addresses, by libelf.
 *
 * The path comes from a trace and may name any file: only a regular file is opened, and only the
 * build that ran is used. Memory is bounded, whatever size the file claims.
 */
#ifndef STAGEPROF_ANALYZER_SYMBOLIZER_H
#define STAGEPROF_ANALYZER_SYMBOLIZER_H

#include <stddef.h>
#include <stdint.h>

#define SP_SYMBOL_BYTES 8192u /* longer names are cut */

struct sp_program_file {
	const char *path;     /* absolute; other paths name no file */
	const uint8_t *build; /* the object's GNU build id */
	uint32_t build_bytes; /* 0: the object had none */
	uint64_t loaded_ns;   /* CLOCK_REALTIME: a file without build id must not be newer */
};

/* An address in the file, and the best symbol found for it. */
struct sp_symbol {
	uint64_t at;
	uint64_t begin, bytes; /* bytes 0: none */
	uint64_t name;	       /* offset in the string table */
	unsigned rank;
};

struct sp_symbol_query {
	struct sp_symbol *wanted; /* sorted by address */
	size_t n;
	void (*found)(void *context, size_t i,
		      const char *name); /* called with the name of wanted[i] */
	void *context;
};

/*
 * Calls query->found for each address that lies in a function; where several functions begin at one
 * address, with the exported one. Uses .symtab where the file has one, else .dynsym. Returns 0 or
 * -errno: -ESTALE for another build, -ENOEXEC for a file that is not ELF or has no symbols.
 */
int sp_symbols_find(const struct sp_program_file *file, const struct sp_symbol_query *query);

#endif
