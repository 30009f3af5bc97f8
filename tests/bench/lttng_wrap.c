/* SPDX-License-Identifier: Apache-2.0 */
/* A preload for tests/bench/run --peers: the hooked calls of the loops, timed by the counter as
 * ours are, each an event of LTTng. Its own wrappers of libc know malloc and the dynamic linker
 * alone. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/lttng_call.h"

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

struct jpeg_decompress_struct;

unsigned jpeg_read_scanlines(struct jpeg_decompress_struct *image, unsigned char **rows,
			     unsigned max);

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	static __typeof__(&pread) real;
	uint64_t start;
	ssize_t ret;

	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "pread");
	start = __builtin_ia32_rdtsc();
	ret = real(fd, buffer, bytes, offset);
	lttng_ust_tracepoint(stageprof_bench, call, start, __builtin_ia32_rdtsc() - start, 1, ret);
	return ret;
}

unsigned jpeg_read_scanlines(struct jpeg_decompress_struct *image, unsigned char **rows,
			     unsigned max)
{
	static __typeof__(&jpeg_read_scanlines) real;
	uint64_t start;
	unsigned ret;

	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "jpeg_read_scanlines");
	start = __builtin_ia32_rdtsc();
	ret = real(image, rows, max);
	lttng_ust_tracepoint(stageprof_bench, call, start, __builtin_ia32_rdtsc() - start, 2, ret);
	return ret;
}
