/*
 * Functions of an ELF file at given addresses, by libelf.
 *
 * The file may be any, and its path from a trace: it is opened only where it is a regular file, and used only
 * where it is the build that ran. What is held at once is bounded, whatever the file says of its size.
 */
#ifndef STAGEPROF_ANALYZER_SYMBOLS_H
#define STAGEPROF_ANALYZER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#define SP_SYMBOL_BYTES 8192u /* longer names are cut */

struct sp_program_file {
	const char *path; /* absolute, or it is none */
	const uint8_t *build; /* its GNU build id */
	uint32_t build_bytes; /* 0: it had none */
	uint64_t loaded_ns;   /* CLOCK_REALTIME: one without build id must not have changed since */
};

/* An address of the file's own, and the best symbol there so far. */
struct sp_symbol {
	uint64_t at;
	uint64_t begin, bytes; /* bytes 0: none */
	uint64_t name;	       /* its place in the table's texts */
	unsigned rank;
};

struct sp_symbol_query {
	struct sp_symbol *wanted; /* in the order of addresses */
	size_t n;
	void (*found)(void *context, size_t i, const char *name); /* of wanted[i] */
	void *context;
};

/*
 * Calls query->found for each address that lies in a function; of several that begin at one place, the exported one.
 * .symtab is used where the file has one, else .dynsym. Returns 0 or -errno: -ESTALE for another build, -ENOEXEC
 * for what is no ELF file, or has no symbols.
 */
int sp_symbols_find(const struct sp_program_file *file, const struct sp_symbol_query *query);

#endif
