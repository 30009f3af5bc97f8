/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meanings that dlsym must keep: RTLD_NEXT and RTLD_DEFAULT of the caller, names that are not
 * hooked, names that nobody defines, dlerror, errno. Prints what it finds; makes no CUDA call.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programs/victims/tally.h"

/* Ours comes first for RTLD_DEFAULT, libc's next. */
__attribute__((visibility("default"))) int rand_r(unsigned *seed)
{
	return (int)*seed;
}

static void *found(void *handle, const char *name)
{
	void *at;

	errno = 4711;
	at = dlsym(handle, name);
	EXPECT(errno == 4711 || !at);
	return at;
}

int main(void)
{
	static const char *const absent[] = {"cuLaunchKernel",
					     "cudaLaunchKernel",
					     "cuGetProcAddress_v2",
					     "cudaMemcpyAsync",
					     "cuInit",
					     "cublasCreate_v2",
					     "cu",
					     "c",
					     "ncclAllReduce",
					     "ncclGetVersion",
					     "nc",
					     "n"};
	void *library;

	EXPECT(found(RTLD_DEFAULT, "rand_r") == (void *)rand_r);
	EXPECT(found(RTLD_NEXT, "rand_r") != (void *)rand_r && found(RTLD_NEXT, "rand_r"));
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		const char *said;

		dlerror();
		EXPECT(found(RTLD_DEFAULT, absent[i]) == NULL);
		said = dlerror();
		EXPECT(said && strstr(said, absent[i]));
	}
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	EXPECT(library);
	EXPECT(found(library, "cuInit") && found(library, "cuLaunchKernel"));
	EXPECT(found(library, "cuNoSuchFunction") == NULL);
	EXPECT(strstr(dlerror(), "cuNoSuchFunction"));
	EXPECT(found(library, "cuLaunchKernel") == found(library, "cuLaunchKernel"));
	library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
	EXPECT(library);
	EXPECT(found(library, "ncclAllReduce") && found(library, "ncclGroupStart"));
	EXPECT(found(library, "ncclAllReduce") == found(library, "ncclAllReduce"));
	EXPECT(found(library, "ncclGather") == NULL); /* hooked, and not in this one */
	EXPECT(strstr(dlerror(), "ncclGather"));
	puts("done");
	return 0;
}
