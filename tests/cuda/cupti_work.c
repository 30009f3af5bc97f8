/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_work ROUNDS [subscribe|fork|kill]: gives the fake device known work, for tests of CUPTI:
 * two kernels, copies, sets and a graph, on two streams at once.
 *
 *	subscribe  the program uses CUPTI itself from the middle on, as torch.profiler does
 *	fork       a child works before and after
 *	kill       the program ends by SIGKILL
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda.h"

#define BYTES 65536u
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* As a compiler of CUDA names them. */
#define KERNEL(symbol) __asm__(symbol) __attribute__((visibility("default")))
void scale(void) KERNEL("_Z5scalePfif");
void add(void) KERNEL("_ZN2at6native3addIfEEvPT_i");

void scale(void)
{
}

void add(void)
{
}

static const struct fake_dim3 one = {1, 1, 1};

static void launch(void (*kernel)(void), uint64_t ns, void *stream)
{
	void *arguments[] = {&ns};

	EXPECT(cudaLaunchKernel((const void *)kernel, one, one, arguments, 0, stream) == FAKE_OK);
}

static void graph(void *stream)
{
	void *graph, *instance;

	EXPECT(cudaStreamBeginCapture(stream, 0) == FAKE_OK);
	launch(scale, 150000, stream);
	launch(add, 100000, stream);
	EXPECT(cudaStreamEndCapture(stream, &graph) == FAKE_OK);
	EXPECT(cudaGraphInstantiate(&instance, graph, 0) == FAKE_OK);
	EXPECT(cudaGraphLaunch(instance, stream) == FAKE_OK);
}

static void work(long rounds)
{
	char *device, *pinned;
	void *first, *second;

	EXPECT(cudaStreamCreate(&first) == FAKE_OK && cudaStreamCreate(&second) == FAKE_OK);
	EXPECT(cudaMalloc((void **)&device, BYTES) == FAKE_OK);
	EXPECT(cudaHostAlloc((void **)&pinned, BYTES, 0) == FAKE_OK);
	for (long i = 0; i < rounds; i++) {
		EXPECT(cudaMemcpyAsync(device, pinned, BYTES, FAKE_H2D, first) == FAKE_OK);
		launch(scale, 300000, first);
		launch(add, 500000, second); /* beside the other */
		EXPECT(cudaMemsetAsync(device, 0, BYTES, second) == FAKE_OK);
		EXPECT(cudaMemcpyAsync(pinned, device, BYTES, FAKE_D2H, first) == FAKE_OK);
		graph(first);
		EXPECT(cudaDeviceSynchronize() == FAKE_OK);
	}
	EXPECT(cudaFree(device) == FAKE_OK && cudaFreeHost(pinned) == FAKE_OK);
}

static void request(uint8_t **buffer, size_t *bytes, size_t *records)
{
	*bytes = 1 << 20;
	*buffer = malloc(*bytes);
	*records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used)
{
	(void)context;
	(void)stream;
	(void)bytes;
	printf("%s\n", used ? "records" : "nothing");
	free(buffer);
}

static void callback(void *data, int domain, int id, const void *call)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)call;
}

static void subscribe(void)
{
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW), *subscriber;
	int (*cupti_subscribe)(void **, void *, void *) =
		(int (*)(void **, void *, void *))dlsym(cupti, "cuptiSubscribe");
	int (*cupti_register)(void *, void *) = (int (*)(void *, void *))dlsym(cupti, "cuptiActivit"
										      "yRegisterCal"
										      "lbacks");
	int (*cupti_enable)(uint32_t) = (int (*)(uint32_t))dlsym(cupti, "cuptiActivityEnable");

	EXPECT(cupti_subscribe && cupti_register && cupti_enable);
	EXPECT(cupti_subscribe(&subscriber, (void *)callback, NULL) == 0);
	EXPECT(cupti_register((void *)request, (void *)complete) == 0);
	EXPECT(cupti_enable(10) == 0);
}

static void flush(void)
{
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
	int (*cupti_flush)(uint32_t) = (int (*)(uint32_t))dlsym(cupti, "cuptiActivityFlushAll");

	EXPECT(cupti_flush && cupti_flush(1) == 0);
}

static void in_child(long rounds)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (rounds)
			work(rounds);
		exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 3;
	const char *how = argc > 2 ? argv[2] : "";

	if (!strcmp(how, "fork"))
		in_child(rounds);
	work(rounds);
	if (!strcmp(how, "fork"))
		in_child(0);
	if (!strcmp(how, "subscribe")) {
		subscribe();
		work(rounds);
		flush();
	}
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	puts("done");
	return 0;
}
