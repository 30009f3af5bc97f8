/* SPDX-License-Identifier: Apache-2.0 */
/* libnccl.so.2: a collective is one kernel, launched through the driver, as the real one's are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "fake_cuda.h"

static int (*launch_kernel)(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			    unsigned by, unsigned bz, unsigned shared, void *stream,
			    void **arguments, void **extra);

static void begin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int (*find)(const char *, void **, int, uint64_t, int *) = NULL;
	void *function = NULL;

	if (library)
		find = (int (*)(const char *, void **, int, uint64_t, int *))dlsym(library, "cuGetP"
											    "rocAdd"
											    "ress_"
											    "v2");
	if (find)
		find("cuLaunchKernel", &function, 13000, 0, NULL);
	launch_kernel = (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
				 unsigned, void *, void **, void **))function;
}

static long calls;

long ncclFakeCalls(void)
{
	return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

/* ncclSuccess 0, ncclUnhandledCudaError 1, ncclInvalidArgument 4 */
static int work(size_t count, void *comm, void *stream)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t ns = 1000 + count / 10;
	void *arguments[] = {&ns};

	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	pthread_once(&once, begin);
	if (!comm)
		return 4;
	if (!launch_kernel)
		return 1;
	return launch_kernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL) ? 1 : 0;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
		  void *stream)
{
	return work(count, comm, stream);
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
		  void *stream)
{
	return work(count, comm, stream);
}

/* As the real one, by its own exported function: one call of the user's. */
int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream)
{
	return work(count, comm, stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, void *comm,
		      void *stream)
{
	return work(count, comm, stream);
}

int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream)
{
	return work(count, comm, stream);
}

int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream)
{
	return work(count, comm, stream);
}

int ncclPutSignal(const void *from, size_t count, int type, int peer, void *window, size_t offset,
		  int signal, int context, unsigned flags, void *comm, void *stream)
{
	return window && offset == 64 && flags == 7 ? work(count, comm, stream) : 4;
}

int ncclSignal(int peer, int signal, int context, unsigned flags, void *comm, void *stream)
{
	return flags == 7 ? work(1, comm, stream) : 4;
}

int ncclWaitSignal(int count, void *signals, void *comm, void *stream)
{
	return signals ? work((size_t)count, comm, stream) : 4;
}

int ncclGroupStart(void)
{
	return 0;
}

int ncclGroupEnd(void)
{
	return 0;
}
