/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of an input file, by offset, through one bounded buffer. The file is read, never mapped,
 * because access to a mapped file that was cut short is SIGBUS. Two threads must not use one source
 * at once.
 */
#ifndef STAGEPROF_ANALYZER_SOURCE_H
#define STAGEPROF_ANALYZER_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The size of the buffer, and the most that one call can ask for. */
#define SP_SOURCE_BYTES_MAX (1024u * 1024u)

struct sp_source {
	int fd;
	uint64_t size_bytes; /* when it was opened */
	uint8_t *buffer;
	uint64_t at; /* offset of buffer[0] */
	size_t have;
	size_t ahead_bytes; /* least to read at a time */
};

/* Allocates the buffer; opens no file. Returns 0 or -ENOMEM. */
int sp_source_init(struct sp_source *s);
void sp_source_finish(struct sp_source *s);

/*
 * Opens a regular file and closes the previous one. Returns 0 or -errno; -EINVAL where the path is
 * not a regular file. ahead_bytes <= SP_SOURCE_BYTES_MAX: small for a walk from head to head, large
 * for a whole read.
 */
int sp_source_open(struct sp_source *s, const char *path, size_t ahead_bytes);
void sp_source_close(struct sp_source *s);

/* Empties the buffer, so that the next call sees later changes of the file. */
void sp_source_refresh(struct sp_source *s);

/*
 * Points *ret at the bytes from offset `at`, valid until the next call. Returns their number,
 * at most `want` (less only at the end of the file), or -errno. want <= SP_SOURCE_BYTES_MAX.
 */
ssize_t sp_source_bytes(struct sp_source *s, uint64_t at, size_t want, const uint8_t **ret);

#endif
