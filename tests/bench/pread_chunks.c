/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pread_chunks FILE PAIRS THREADS: preads of 4 KiB as in pread_loop, chunks of hooked calls in turn
 * with chunks of libc's own (alternate.h). Each sort goes over the same pages.
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/bench/alternate.h"
#include "tests/bench/loop.h"

#define READ_BYTES 4096
#define CHUNK_CALLS 1024u
/* Blocks are made every 3,584 calls and files grow every 200,000: a pair has many of the one, some
 * of the other. */
#define PAIR_CALLS 131072u

struct reader {
	int fd;
	uint64_t pages, next[2];
	char *buffer;
};

static const char *path;
static __typeof__(&pread) own_pread;
static uint64_t chunk_calls = CHUNK_CALLS;

static void *reader_make(void)
{
	struct reader *r = calloc(1, sizeof(*r));

	bench_require(r && (r->buffer = aligned_alloc(READ_BYTES, READ_BYTES)), "memory");
	r->fd = open(path, O_RDONLY);
	bench_require(r->fd >= 0, path);
	r->pages = (uint64_t)lseek(r->fd, 0, SEEK_END) / READ_BYTES;
	bench_require(r->pages > 0, "an empty file");
	return r;
}

/* One loop for both sorts: only where the call leads differs. */
static void read_chunk(void *state, int hooked)
{
	__typeof__(&pread) volatile call = hooked ? pread : own_pread;
	struct reader *r = state;
	uint64_t i = r->next[hooked], stop = i + chunk_calls;

	for (; i < stop; i++)
		bench_require(call(r->fd, r->buffer, READ_BYTES,
				   (off_t)(i * 7 % r->pages * READ_BYTES)) == READ_BYTES,
			      "pread");
	r->next[hooked] = i;
}

int main(int argc, char **argv)
{
	struct bench_alternate a = {.state = reader_make, .chunk = read_chunk};

	if (argc != 4)
		return 2;
	path = argv[1];
	a.pairs = (unsigned)strtoul(argv[2], NULL, 10);
	a.threads = (unsigned)strtoul(argv[3], NULL, 10);
	if (!a.pairs || !a.threads)
		return 2;
	/* Several threads wait for each other after a chunk, and the scheduler deals them to few
	 * cores. */
	chunk_calls = a.threads > 1 ? CHUNK_CALLS * 16 : CHUNK_CALLS;
	a.chunk_calls = chunk_calls;
	a.chunks = (unsigned)(PAIR_CALLS / chunk_calls / a.threads);
	own_pread = (__typeof__(&pread))bench_own("getpagesize", "pread");
	bench_alternate(&a);
	return 0;
}
