/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of tests/cuda/gpu_trainer.py for the fake device: kernels by number, which are named as
 * a compiler of CUDA names them.
 */
#include <stddef.h>

#include "fake_cuda.h"

#define SHOWN __attribute__((visibility("default")))

SHOWN void kernel_forward(void) __asm__("_Z6convolPfS_i");
SHOWN void kernel_backward(void) __asm__("_Z8gradientPfS_i");
SHOWN void kernel_optimizer(void) __asm__("_Z3sgdPfif");
SHOWN void kernel_collective(void) __asm__("_Z36ncclDevKernel_AllReduce_Sum_f32_RINGv");
SHOWN int gpu_launch(int number, uint64_t ns);
SHOWN int gpu_copy_in(size_t bytes);
SHOWN int gpu_wait(void);

void kernel_forward(void)
{
}

void kernel_backward(void)
{
}

void kernel_optimizer(void)
{
}

void kernel_collective(void)
{
}

int gpu_launch(int number, uint64_t ns)
{
	static void (*const kernels[])(void) = {kernel_forward, kernel_backward, kernel_optimizer,
						kernel_collective};
	struct fake_dim3 one = {1, 1, 1};
	void *arguments[] = {&ns};

	return cudaLaunchKernel((const void *)kernels[number], one, one, arguments, 0, NULL);
}

int gpu_copy_in(size_t bytes)
{
	static void *device, *pinned;

	if (!device && (cudaMalloc(&device, bytes) || cudaHostAlloc(&pinned, bytes, 0)))
		return 1;
	return cudaMemcpyAsync(device, pinned, bytes, FAKE_H2D, NULL);
}

int gpu_wait(void)
{
	return cudaDeviceSynchronize();
}
