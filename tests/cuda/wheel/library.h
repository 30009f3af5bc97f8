/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a library of NVIDIA gives the device work: by the driver's functions, which it looks up for
 * itself as the real ones do.
 */
#ifndef SIM_LIBRARY_H
#define SIM_LIBRARY_H

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>

#include "count.h"
#include "device.h"

static pthread_once_t sim_library_once = PTHREAD_ONCE_INIT;
static __typeof__(&cuLaunchKernel) sim_launch;

static void sim_library_begin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	__typeof__(&cuGetProcAddress_v2) find =
		library ? (__typeof__(find))dlsym(library, "cuGetProcAddress_v2") : NULL;

	if (!find)
		abort();
	find("cuLaunchKernel", (void **)&sim_launch, CUDA_VERSION, 0, NULL);
}

static inline int sim_library_launch(struct sim_kernel *kernel, void *stream)
{
	pthread_once(&sim_library_once, sim_library_begin);
	return (int)sim_launch((CUfunction)(void *)kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL,
			       NULL);
}

/* Launches the kernel of this name. */
#define LAUNCH(kernel_name, stream)                                                                \
	({                                                                                         \
		static struct sim_kernel kernel_of_it = {kernel_name, 0};                          \
		sim_library_launch(&kernel_of_it, stream);                                         \
	})

#endif
