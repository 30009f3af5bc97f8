/* SPDX-License-Identifier: Apache-2.0 */
/* A library that brings a runtime of its own; loaded and unloaded by runtimes.c. */
#include "fake_cuda.h"

__attribute__((visibility("default"))) long plugin_launch(long calls);

/* Returns how many of them this library's own runtime has seen. */
long plugin_launch(long calls)
{
	static const struct fake_dim3 one = {1, 1, 1};
	long before = cudaFakeLaunches();

	for (long i = 0; i < calls; i++)
		if (cudaLaunchKernel((const void *)plugin_launch, one, one, NULL, 0, NULL) !=
		    FAKE_OK)
			return -1;
	cudaStreamSynchronize(NULL);
	return cudaFakeLaunches() - before;
}
