/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A victim's own account of its calls, kept where SIGKILL cannot reach it: rows in the file named
 * by the environment variable TALLY, mapped shared. Made and read by tests/exact/harness.py.
 *
 * Everything here goes to the kernel by syscall(2), so that no interposer of libc's functions sees
 * the bookkeeping. A row belongs to the thread that took it; taking rows is safe in threads, signal
 * handlers and forked children.
 */
#ifndef VICTIMS_TALLY_H
#define VICTIMS_TALLY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tally_row {
	uint32_t pid, tid;
	char stage[24];
	char path[72];	/* "": no particular file */
	uint64_t begun; /* calls entered */
	uint64_t calls; /* calls returned; begun - 1 or begun */
	uint64_t bytes; /* sum of what they returned, where that is a number of bytes */
};

_Static_assert(sizeof(struct tally_row) == 128, "the checker reads rows of 128 bytes");

/* Never NULL; ends the process with status 99 when the file is full. */
struct tally_row *tally_row(const char *stage, const char *path);

static inline void tally_begin(struct tally_row *row)
{
	__atomic_store_n(&row->begun, row->begun + 1, __ATOMIC_SEQ_CST);
}

/* Both words of an ended call; a kill between the stores leaves bytes one call ahead at most. */
static inline void tally_end(struct tally_row *row, int64_t bytes)
{
	if (bytes > 0)
		__atomic_store_n(&row->bytes, row->bytes + (uint64_t)bytes, __ATOMIC_SEQ_CST);
	__atomic_store_n(&row->calls, row->calls + 1, __ATOMIC_SEQ_CST);
}

/* Counts a call. TALLY_BYTES: what it returns is a number of bytes. */
#define TALLY(row, call)                                                                           \
	({                                                                                         \
		struct tally_row *tally_here = (row);                                              \
		tally_begin(tally_here);                                                           \
		__auto_type tally_result = (call);                                                 \
		tally_end(tally_here, 0);                                                          \
		tally_result;                                                                      \
	})
#define TALLY_BYTES(row, call)                                                                     \
	({                                                                                         \
		struct tally_row *tally_here = (row);                                              \
		tally_begin(tally_here);                                                           \
		__auto_type tally_result = (call);                                                 \
		tally_end(tally_here, (int64_t)tally_result);                                      \
		tally_result;                                                                      \
	})

/* Makes a regular file of a known pattern; exits with status 98 on failure. */
void tally_make_file(const char *path, size_t bytes);

/* Prints and exits 97 where a victim finds that it was lied to. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			tally_fail(__FILE__, __LINE__, #condition);                                \
	} while (0)
void tally_fail(const char *file, int line, const char *condition) __attribute__((noreturn));

#endif
