/*
 * Bytes of an input file, by offset, through one bounded buffer. Reads, never maps: a file cut
 * short under a mapping is SIGBUS. Not for use by two threads at once.
 */
#ifndef STAGEPROF_ANALYZER_SOURCE_H
#define STAGEPROF_ANALYZER_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SP_SOURCE_BYTES_MAX (1024u * 1024u) /* the buffer, and the most that one call can ask for */

struct sp_source {
	int fd;
	uint64_t size_bytes; /* when it was opened */
	uint8_t *buffer;
	uint64_t at; /* offset of buffer[0] */
	size_t have;
	size_t ahead_bytes; /* least to read at a time */
};

/* Takes memory for the buffer; returns 0 or -ENOMEM. The source has no file yet. */
int sp_source_init(struct sp_source *s);
void sp_source_finish(struct sp_source *s);

/*
 * Opens a regular file, closing the one before. Returns 0 or -errno; -EINVAL where it is not a
 * regular file. ahead_bytes <= SP_SOURCE_BYTES_MAX: small for a walk from head to head, large for a
 * whole read.
 */
int sp_source_open(struct sp_source *s, const char *path, size_t ahead_bytes);
void sp_source_close(struct sp_source *s);

/* Forgets what is buffered, so that the next call sees the file as it is then. */
void sp_source_refresh(struct sp_source *s);

/*
 * Points *ret at the bytes from offset `at`, good until the next call. Returns how many there are,
 * at most `want` (less only at the end of the file), or -errno. want <= SP_SOURCE_BYTES_MAX.
 */
ssize_t sp_source_bytes(struct sp_source *s, uint64_t at, size_t want, const uint8_t **ret);

#endif
