/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in which tests/cuda/culprits.py waits;
 * the test looks for their names on native stacks. */
#include "fake_cuda.h"

#define SHOWN __attribute__((visibility("default"), noinline))

SHOWN int launch(uint64_t ns);
SHOWN int wait_for_stream(void);
SHOWN int copy_back(void *to, size_t bytes);
SHOWN int settle(void *to, size_t bytes);
SHOWN int wait_twice(uint64_t ns, uint64_t *first_ns);

/* Written after a call, so that no call is a tail call
 * and each function has a frame. */
static volatile int done;

int launch(uint64_t ns)
{
	static const struct fake_dim3 one = {1, 1, 1};
	void *arguments[] = {&ns};

	done = cudaLaunchKernel((const void *)launch, one, one, arguments, 0, NULL);
	return done;
}

int wait_for_stream(void)
{
	done = cudaStreamSynchronize(NULL);
	return done;
}

int copy_back(void *to, size_t bytes)
{
	static void *device;

	if (!device && cudaMalloc(&device, bytes))
		return -1;
	done = cudaMemcpy(to, device, bytes, FAKE_D2H);
	return done;
}

/* Two waits that one call from Python makes; first_ns: how long the thread has waited before the
 * second. */
int wait_twice(uint64_t ns, uint64_t *first_ns)
{
	int ret = launch(ns) | wait_for_stream();

	*first_ns = cudaFakeWaitedNs();
	ret |= launch(ns);
	done = ret | cudaDeviceSynchronize();
	return done;
}

/* With no bytes to copy it waits for the stream. */
int settle(void *to, size_t bytes)
{
	int ret = bytes ? copy_back(to, bytes) : wait_for_stream();

	done = ret;
	return ret;
}
