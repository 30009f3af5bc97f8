/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/gzip.h"

#include <errno.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#define LEVEL 3		/* half the time of the default, a tenth larger */
#define GZIP_WRAPPER 16 /* added to windowBits: zlib.h, deflateInit2 */
#define MEMORY_LEVEL 8	/* zlib's default */
#define OUT_BYTES (64u * 1024u)

struct gzip {
	FILE *to;
	z_stream stream;
	unsigned char out[OUT_BYTES];
};

static int put(struct gzip *g, int flush)
{
	int r;

	do {
		size_t n;

		g->stream.next_out = g->out;
		g->stream.avail_out = sizeof(g->out);
		r = deflate(&g->stream, flush);
		n = sizeof(g->out) - g->stream.avail_out;
		if (fwrite(g->out, 1, n, g->to) != n) {
			errno = EIO;
			return -1;
		}
	} while (g->stream.avail_out == 0);
	return r == Z_STREAM_ERROR ? -1 : 0;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t n)
{
	struct gzip *g = cookie;

	g->stream.next_in = (const unsigned char *)bytes;
	g->stream.avail_in = (uInt)n; /* stdio's buffer */
	return put(g, Z_NO_FLUSH) < 0 ? 0 : (ssize_t)n;
}

static int close_it(void *cookie)
{
	struct gzip *g = cookie;
	int r = put(g, Z_FINISH);

	deflateEnd(&g->stream);
	free(g);
	return r;
}

FILE *sp_gzip_open(FILE *to)
{
	struct gzip *g = calloc(1, sizeof(*g));
	FILE *file;

	if (!g || deflateInit2(&g->stream, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_WRAPPER,
			       MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return NULL;
	}
	g->to = to;
	file = fopencookie(g, "w", (cookie_io_functions_t){.write = write_some, .close = close_it});
	if (!file) {
		deflateEnd(&g->stream);
		free(g);
	}
	return file;
}
