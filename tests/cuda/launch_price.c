/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_price CALLS HOW: launches, for callgrind to count. HOW: runtime; driver: as cuBLAS does,
 * by a function that cuGetProcAddress gave; nested: by the runtime, whose launch goes on to the
 * driver's; collective, send: NCCL's instead. launch_price PAIRS HOW alternate: in turn with
 * launches that nobody has hooked (tests/bench/alternate.h); prints the times.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "tests/bench/alternate.h"
#include "tests/bench/loop.h"

#define CHUNK_CALLS 1024
#define CHUNKS 128u /* of each sort in a pair: blocks are made every 3,584 calls */

typedef int launch_function(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			    unsigned, void *, void **, void **);
typedef __typeof__(cudaLaunchKernel) runtime_function;
typedef __typeof__(ncclAllReduce) collective_function;
typedef __typeof__(ncclSend) send_function;

void nullNests(launch_function *driver);

/* The called functions, hooked and not. */
static launch_function *drivers[2];
static runtime_function *runtimes[2];
static collective_function *collectives[2];
static send_function *sends[2];
static int is_driver, is_nested, is_collective, is_send;
static void *comm;

static void *library_of(const char *name)
{
	void *library = dlopen(name, RTLD_NOW);

	bench_require(library != NULL, name);
	return library;
}

static void find(void)
{
	void *library = library_of("libcuda.so.1"), *function = NULL;
	int (*get)(const char *, void **, int, uint64_t, int *), status;
	void *(*own)(void) = (void *(*)(void))dlsym(library, "nullLaunch");

	get = (__typeof__(get))dlsym(library, "cuGetProcAddress_v2");
	bench_require(get && get("cuLaunchKernel", &function, 13000, 0, &status) == FAKE_OK && own,
		      "cuLaunchKernel");
	drivers[0] = (launch_function *)own();
	drivers[1] = (launch_function *)function;
	runtimes[0] = (runtime_function *)dlsym(library_of("libcudart.so.13"), "cudaLaunchKernel");
	runtimes[1] = cudaLaunchKernel;
	collectives[0] = (collective_function *)dlsym(library_of("libcudart.so.13"), "nullAllReduc"
										     "e");
	collectives[1] = ncclAllReduce;
	sends[0] = (send_function *)dlsym(library_of("libcudart.so.13"), "nullSend");
	sends[1] = ncclSend;
	bench_require(ncclCommInitRank(&comm, 8, (struct fake_nccl_id){{1}}, 0) == FAKE_OK, "NCCL");
}

static void exchanges(long calls, int hooked)
{
	collective_function *volatile collective = collectives[hooked];
	send_function *volatile send = sends[hooked];
	int failed = 0;

	for (long i = 0; i < calls; i++)
		failed |= is_send ? send(&failed, 1, 0, 0, comm, NULL)
				  : collective(&failed, &failed, 1, 0, 0, comm, NULL);
	bench_require(!failed, "NCCL");
}

static void launches(long calls, int hooked)
{
	static const struct fake_dim3 one = {1, 1, 1};
	launch_function *volatile driver = drivers[hooked];
	runtime_function *volatile runtime = runtimes[hooked];
	int failed = 0;

	if (is_collective || is_send) {
		exchanges(calls, hooked);
		return;
	}
	nullNests(is_nested ? driver : NULL);
	for (long i = 0; i < calls; i++)
		failed |= is_driver ? driver(&failed, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)
				    : runtime(&failed, one, one, NULL, 0, NULL);
	bench_require(!failed, "a launch");
}

static void *nothing(void)
{
	return &is_driver; /* of one thread: not NULL */
}

static void chunk(void *state, int hooked)
{
	(void)state;
	launches(CHUNK_CALLS, hooked);
}

int main(int argc, char **argv)
{
	struct bench_alternate a = {nothing, chunk, CHUNK_CALLS, 1, CHUNKS, 0};

	bench_require(argc > 2, "what to launch");
	is_driver = !strcmp(argv[2], "driver");
	is_nested = !strcmp(argv[2], "nested");
	is_collective = !strcmp(argv[2], "collective");
	is_send = !strcmp(argv[2], "send");
	find();
	if (argc == 3) {
		launches(atol(argv[1]), 1);
		return 0;
	}
	a.pairs = (unsigned)atol(argv[1]);
	bench_alternate(&a);
	return 0;
}
