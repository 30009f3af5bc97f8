/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_steps STEPS KERNEL_MS INPUT_MS: a training in C whose whole step is one CUDA graph. It
 * captures three kernels once. Each step makes its input, copies it and launches the graph. Prints
 * the GPU time of the launched graphs, in ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fake_cuda.h"
#include "tests/programs/victims/tally.h"

enum { KERNELS = 3, BYTES = 4096 };

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void *capture(void *stream, uint64_t kernel_ns)
{
	static const struct fake_dim3 one = {1, 1, 1};
	void *arguments[1] = {&kernel_ns}, *graph, *instance;

	EXPECT(cudaStreamBeginCapture(stream, 0) == FAKE_OK);
	for (int i = 0; i < KERNELS; i++)
		EXPECT(cudaLaunchKernel((const void *)capture, one, one, arguments, 0, stream) ==
		       FAKE_OK);
	EXPECT(cudaStreamEndCapture(stream, &graph) == FAKE_OK);
	EXPECT(cudaGraphInstantiate(&instance, graph, 0) == FAKE_OK);
	return instance;
}

int main(int argc, char **argv)
{
	long steps = argc > 3 ? atol(argv[1]) : 10, kernel_ms = argc > 3 ? atol(argv[2]) : 1;
	long input_ms = argc > 3 ? atol(argv[3]) : 1;
	static char input[BYTES];
	void *stream, *step, *device;

	EXPECT(cudaStreamCreate(&stream) == FAKE_OK && cudaMalloc(&device, BYTES) == FAKE_OK);
	step = capture(stream, (uint64_t)kernel_ms * 1000000);
	for (long i = 0; i < steps; i++) {
		sleep_ms(input_ms);
		EXPECT(cudaMemcpyAsync(device, input, BYTES, FAKE_H2D, stream) == FAKE_OK);
		EXPECT(cudaGraphLaunch(step, stream) == FAKE_OK);
		EXPECT(cudaStreamSynchronize(stream) == FAKE_OK);
	}
	printf("%ld\n", steps * KERNELS * kernel_ms * 1000000);
	return 0;
}
