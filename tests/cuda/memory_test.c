/* SPDX-License-Identifier: Apache-2.0 */
/* preload/cuda/cuda_memory.c as a plain program: which copy is which. */
#include "preload/cuda/cuda_memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char device[4096], second[4096], pinned[4096], pageable[4096];

static void expect(int line, uint32_t arg, uint32_t direction, uint32_t host)
{
	if (sp_cuda_arg_direction(arg) == direction && sp_cuda_arg_host(arg) == host)
		return;
	printf("line %d: direction %u, host memory %u\n", line, sp_cuda_arg_direction(arg),
	       sp_cuda_arg_host(arg));
	exit(1);
}

#define EXPECT(to, from, given, direction, host)                                                   \
	expect(__LINE__, sp_cuda_copy_arg(NULL, given, to, from), SP_COPY_##direction,             \
	       SP_COPY_HOST_##host)

enum { DEFAULT = SP_COPY_UNKNOWN };

static void known_memory(void)
{
	EXPECT(device, pageable, SP_COPY_TO_DEVICE, TO_DEVICE, PAGEABLE);
	EXPECT(device, pinned, SP_COPY_TO_DEVICE, TO_DEVICE, PINNED);
	EXPECT(pinned + 4095, device, SP_COPY_TO_HOST, TO_HOST, PINNED);
	EXPECT(pinned + 4096, device, SP_COPY_TO_HOST, TO_HOST, PAGEABLE);
	EXPECT(device, second, SP_COPY_ON_DEVICE, ON_DEVICE, UNKNOWN);
	EXPECT(pinned, pageable, SP_COPY_HOST_TO_HOST, HOST_TO_HOST, UNKNOWN);
	EXPECT(device, pageable, DEFAULT, TO_DEVICE, PAGEABLE);
	EXPECT(pinned, device, DEFAULT, TO_HOST, PINNED);
	EXPECT(second, device, DEFAULT, ON_DEVICE, UNKNOWN);
	EXPECT(pageable, pinned, DEFAULT, UNKNOWN, UNKNOWN);
	EXPECT(device, pageable, -1, TO_DEVICE, PAGEABLE);
}

static void forgotten_memory(void)
{
	sp_cuda_memory_remove(SP_CUDA_PINNED, pinned + 1);
	EXPECT(device, pinned, SP_COPY_TO_DEVICE, TO_DEVICE, PINNED);
	sp_cuda_memory_remove(SP_CUDA_PINNED, pinned);
	EXPECT(device, pinned, SP_COPY_TO_DEVICE, TO_DEVICE, PAGEABLE);
	sp_cuda_memory_remove(SP_CUDA_PINNED, NULL);
}

/* Others come and go while one stays. */
static void *churn(void *place)
{
	for (int i = 0; i < 20000; i++) {
		sp_cuda_memory_add(SP_CUDA_PINNED, place, 64);
		EXPECT(device, (char *)place + 63, SP_COPY_TO_DEVICE, TO_DEVICE, PINNED);
		sp_cuda_memory_remove(SP_CUDA_PINNED, place);
		EXPECT(device, place, SP_COPY_TO_DEVICE, TO_DEVICE, PAGEABLE);
	}
	return NULL;
}

static void many_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, churn, pageable + 1024 * i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* Memory that does not fit into the table is not known, rather than wrong. */
static void full_table(void)
{
	for (uintptr_t i = 1; i <= SP_CUDA_RANGES + 1; i++) {
		sp_cuda_memory_add(SP_CUDA_PINNED, (void *)(i << 20), 1);
		sp_cuda_memory_add(SP_CUDA_DEVICE, (void *)(i << 20), 1);
	}
	EXPECT(device, pageable, SP_COPY_TO_DEVICE, TO_DEVICE, UNKNOWN);
	EXPECT(device, pageable, DEFAULT, UNKNOWN, UNKNOWN);
	EXPECT(device, (void *)(1ul << 20), SP_COPY_TO_DEVICE, TO_DEVICE, PINNED);
	EXPECT(device, second, DEFAULT, ON_DEVICE, UNKNOWN);
}

int main(void)
{
	sp_cuda_memory_add(SP_CUDA_DEVICE, device, sizeof(device));
	sp_cuda_memory_add(SP_CUDA_DEVICE, second, sizeof(second));
	sp_cuda_memory_add(SP_CUDA_PINNED, pinned, sizeof(pinned));
	known_memory();
	many_threads();
	known_memory();
	forgotten_memory();
	full_table();
	return 0;
}
