/* SPDX-License-Identifier: Apache-2.0 */
// Calls the real runtime where there is no device, or no driver: every result is printed.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void kernel(int *at)
{
	if (at)
		*at = 1;
}

#define SAY(call) printf("%s: %d\n", #call, (int)(call))

int main()
{
	void *device = nullptr, *pinned = nullptr;
	char host[64] = {0};
	cudaStream_t stream = nullptr;
	int count = -1;

	SAY(cudaGetDeviceCount(&count));
	SAY(cudaStreamCreate(&stream));
	SAY(cudaMalloc(&device, 1024));
	SAY(cudaMallocHost(&pinned, 1024));
	for (int i = 0; i < 5; i++) {
		kernel<<<1, 1>>>((int *)device);
		SAY(cudaGetLastError());
	}
	SAY(cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice));
	SAY(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
	SAY(cudaMemset(device, 0, 64));
	SAY(cudaStreamSynchronize(stream));
	SAY(cudaDeviceSynchronize());
	SAY(cudaFreeHost(pinned));
	SAY(cudaFree(device));
	return 0;
}
