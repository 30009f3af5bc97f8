/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer between a tensor and CUDA, for trainers of the fake device that call it by ctypes: a
 * call is one kernel, copy or wait, as PyTorch makes them for `x + y`, `x.to("cuda")` and
 * `x.item()`. One stream, and another for copies. Aborts where CUDA fails.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fake_cuda.h"

void *device_memory(size_t bytes); /* a buffer of the device */
void free_memory(void *device);	   /* of the device */
void *pinned_memory(size_t bytes);
void launch(uint64_t ns, int count);			/* kernels that take `ns` each */
void copy_in(void *to, const void *from, size_t bytes); /* x.to("cuda", non_blocking=True) */
void copy_in_and_wait(void *to, const void *from, size_t bytes); /* x.to("cuda") */
void copy_in_whole(void *to, const void *from, size_t bytes);	 /* of a type that waits itself */
/* The same as copy_in, on a stream of its own; and the kernels after await_copy() wait for it. */
void copy_beside(void *to, const void *from, size_t bytes);
void await_copy(void);
double item(const void *from); /* x.item() */

static void need(int error)
{
	if (error != FAKE_OK)
		abort();
}

void *device_memory(size_t bytes)
{
	void *made;

	need(cudaMalloc(&made, bytes));
	return made;
}

void free_memory(void *device)
{
	need(cudaFree(device));
}

void *pinned_memory(size_t bytes)
{
	void *made;

	need(cudaHostAlloc(&made, bytes, 0));
	return made;
}

void launch(uint64_t ns, int count)
{
	void *arguments[] = {&ns};

	for (int i = 0; i < count; i++)
		need(cudaLaunchKernel((const void *)launch, (struct fake_dim3){1, 1, 1},
				      (struct fake_dim3){1, 1, 1}, arguments, 0, NULL));
}

void copy_in(void *to, const void *from, size_t bytes)
{
	need(cudaMemcpyAsync(to, from, bytes, FAKE_H2D, NULL));
}

void copy_in_and_wait(void *to, const void *from, size_t bytes)
{
	copy_in(to, from, bytes);
	need(cudaStreamSynchronize(NULL));
}

void copy_in_whole(void *to, const void *from, size_t bytes)
{
	need(cudaMemcpy(to, from, bytes, FAKE_H2D));
}

static void *beside, *copied; /* a stream, and the event of its last copy */

void copy_beside(void *to, const void *from, size_t bytes)
{
	if (!beside) {
		need(cudaStreamCreate(&beside));
		need(cudaEventCreate(&copied));
	}
	need(cudaMemcpyAsync(to, from, bytes, FAKE_H2D, beside));
	need(cudaEventRecord(copied, beside));
}

void await_copy(void)
{
	need(cudaStreamWaitEvent(NULL, copied, 0));
}

double item(const void *from)
{
	double value;

	need(cudaMemcpyAsync(&value, from, sizeof(value), FAKE_D2H, NULL));
	need(cudaStreamSynchronize(NULL));
	return value;
}
