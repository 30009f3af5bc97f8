/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int sp_source_init(struct sp_source *s)
{
	*s = (struct sp_source){.fd = -1, .buffer = malloc(SP_SOURCE_BYTES_MAX)};
	return s->buffer ? 0 : -ENOMEM;
}

void sp_source_finish(struct sp_source *s)
{
	sp_source_close(s);
	free(s->buffer);
	s->buffer = NULL;
}

void sp_source_close(struct sp_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->have = 0;
}

void sp_source_refresh(struct sp_source *s)
{
	s->have = 0;
}

int sp_source_open(struct sp_source *s, const char *path, size_t ahead_bytes)
{
	struct stat st;

	sp_source_close(s);
	/* O_NONBLOCK: a FIFO that lies in a run's directory must not hang the report. */
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->fd < 0)
		return -errno;
	if (fstat(s->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	s->size_bytes = (uint64_t)st.st_size;
	s->ahead_bytes = ahead_bytes;
	return 0;
}

static int fill(struct sp_source *s, uint64_t at, size_t want)
{
	s->at = at;
	s->have = 0;
	while (s->have < want) {
		ssize_t n =
			pread(s->fd, s->buffer + s->have, want - s->have, (off_t)(at + s->have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		s->have += (size_t)n;
	}
	return 0;
}

ssize_t sp_source_bytes(struct sp_source *s, uint64_t at, size_t want, const uint8_t **ret)
{
	int r;

	if (at >= s->size_bytes)
		return 0;
	if (want > s->size_bytes - at)
		want = (size_t)(s->size_bytes - at);
	if (at < s->at || at - s->at > s->have || s->have - (at - s->at) < want) {
		r = fill(s, at, want > s->ahead_bytes ? want : s->ahead_bytes);
		if (r < 0)
			return r;
	}
	*ret = s->buffer + (at - s->at);
	if (want > s->have - (size_t)(at - s->at))
		want = s->have - (size_t)(at - s->at);
	return (ssize_t)want;
}
