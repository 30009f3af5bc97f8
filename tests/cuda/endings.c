/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA where it is not as programs expect it: what each call returns is the account, and the same
 * with the tracer. endings load     libraries of CUDA are loaded and never called endings fork a
 * child of a process that has used CUDA: all fails there, and goes on here endings fail launches
 * that the runtime and that the driver refuse, among good ones endings entry    functions of the
 * driver that the runtime gives away endings copies FILE FILE   two copies of one runtime, opened
 * by path, and the driver opened twice endings begin    the first calls of a program; prints what
 * they return (no driver, no device)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda.h"
#include "tests/programs/victims/tally.h"

enum { ROUNDS = 50 };

static const struct fake_dim3 one = {1, 1, 1}, none = {0, 1, 1};

/* A call whose result is printed. */
#define TELL(row, call)                                                                            \
	do {                                                                                       \
		int told;                                                                          \
                                                                                                   \
		tally_begin(row);                                                                  \
		told = (call);                                                                     \
		tally_end(row, 0);                                                                 \
		printf("%s: %d\n", #call, told);                                                   \
	} while (0)

static int load(void)
{
	static const char *const names[] = {"libcuda.so.1", "libcudart.so.13", "libnccl.so.2"};
	char byte;
	int fd = open("/etc/hostname", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		EXPECT(dlopen(names[i], RTLD_NOW | RTLD_LOCAL));
	EXPECT(fd >= 0 && read(fd, &byte, 1) == 1); /* a run begins with an event */
	close(fd);
	return 0;
}

static int begin(void)
{
	struct tally_row *launch = tally_row("cuda_launch", ""),
			 *made = tally_row("cuda_malloc", "");
	struct tally_row *sync = tally_row("cuda_sync", ""), *copy = tally_row("cuda_copy_h2d", "");
	void *at = NULL;
	int count = -1;

	printf("cudaGetDeviceCount: %d\n", cudaGetDeviceCount(&count));
	TELL(made, cudaMalloc(&at, 64));
	TELL(launch, cudaLaunchKernel((const void *)begin, one, one, NULL, 0, NULL));
	TELL(copy, cudaMemcpy(&count, &count, 4, FAKE_H2D));
	TELL(sync, cudaDeviceSynchronize());
	return 0;
}

static void launch_some(struct tally_row *row, int wanted)
{
	for (int i = 0; i < ROUNDS; i++)
		EXPECT(TALLY(row, cudaLaunchKernel((const void *)launch_some, one, one, NULL, 0,
						   NULL)) == wanted);
}

static int fork_after(void)
{
	struct tally_row *row = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");
	int status;
	pid_t child;

	launch_some(row, FAKE_OK);
	EXPECT(TALLY(sync, cudaDeviceSynchronize()) == FAKE_OK);
	child = fork();
	if (child == 0) {
		row = tally_row("cuda_launch", "");
		launch_some(row, FAKE_NOT_INITIALIZED);
		return 0;
	}
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
	launch_some(row, FAKE_OK);
	EXPECT(TALLY(sync, cudaDeviceSynchronize()) == FAKE_OK);
	return 0;
}

static int fail(void)
{
	struct tally_row *row = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");
	int (*driver)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		      void *, void **, void **);
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	launch_some(row, FAKE_OK);
	driver = (__typeof__(driver))dlsym(library, "cuLaunchKernel");
	EXPECT(driver);
	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(TALLY(row, cudaLaunchKernel((const void *)fail, none, one, NULL, 0, NULL)) ==
		       FAKE_INVALID_CONFIGURATION);
		EXPECT(TALLY(row, driver(NULL, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)) ==
		       FAKE_INVALID);
		EXPECT(TALLY(row, driver(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)) == FAKE_OK);
	}
	return TALLY(sync, cudaDeviceSynchronize());
}

typedef int driver_launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			  unsigned, void *, void **, void **);

static void launch_by(struct tally_row *row, void *function)
{
	driver_launch *launch = (driver_launch *)function;

	EXPECT(launch);
	for (int i = 0; i < ROUNDS; i++)
		EXPECT(TALLY(row, launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)) == FAKE_OK);
}

static int entry(void)
{
	struct tally_row *row = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");
	struct tally_row *copy = tally_row("cuda_copy_other", "");
	static char buffer[2][64];
	uint64_t to = (uint64_t)buffer[0], from = (uint64_t)buffer[1];
	size_t bytes = sizeof(buffer[0]);
	int (*query)(void *, long, long, long, long, long, long, long *);
	void *found[5], *batch = NULL, *later = NULL;
	long sum = 0;
	int status;

	EXPECT(cudaGetDriverEntryPoint("cuLaunchKernel", &found[0], 0, &status) == FAKE_OK);
	EXPECT(cudaGetDriverEntryPoint_ptsz("cuLaunchKernel", &found[1], 0, &status) == FAKE_OK);
	EXPECT(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &found[2], 12000, 0, &status) ==
	       FAKE_OK);
	EXPECT(cudaGetDriverEntryPointByVersion_ptsz("cuLaunchKernel", &found[3], 12000, 0,
						     &status) == FAKE_OK);
	EXPECT(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &found[4], FAKE_LATER, 0,
						&status) == FAKE_OK);
	for (int i = 0; i < 5; i++)
		launch_by(row, found[i]);
	/* A function of a future CUDA, with other parameters. */
	EXPECT(cudaGetDriverEntryPointByVersion("cuStreamQuery", &later, FAKE_LATER, 0, &status) ==
	       FAKE_OK);
	query = (__typeof__(query))later;
	EXPECT(query(NULL, 1, 20, 300, 4000, 50000, 600000, &sum) != FAKE_INVALID && sum == 654321);
	/* The function has two ABIs; its address shows which one it is. */
	EXPECT(cudaGetDriverEntryPoint("cuMemcpyBatchAsync", &batch, 0, &status) == FAKE_OK &&
	       batch);
	tally_begin(copy);
	EXPECT(((__typeof__(&cuMemcpyBatchAsync_v2))batch)(&to, &from, &bytes, 1, NULL, NULL, 0,
							   NULL) == FAKE_OK);
	tally_end(copy, (int64_t)bytes);
	EXPECT(cudaGetDriverEntryPoint("cuNoSuchFunction", &batch, 0, &status) == FAKE_OK &&
	       !batch && status);
	return TALLY(sync, cudaDeviceSynchronize());
}

static int copies(char **files)
{
	struct tally_row *row = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");
	void *driver[2];

	for (int i = 0; i < 2; i++) {
		void *library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
		__typeof__(&cudaLaunchKernel) launch = (__typeof__(launch))dlsym(library, "cudaLaun"
											  "chKerne"
											  "l");

		EXPECT(launch && launch != cudaLaunchKernel);
		for (int k = 0; k < ROUNDS; k++)
			EXPECT(TALLY(row, launch((const void *)copies, one, one, NULL, 0, NULL)) ==
			       FAKE_OK);
		driver[i] = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
		EXPECT(driver[i]);
		launch_by(row, dlsym(driver[i], "cuLaunchKernel"));
	}
	launch_some(row, FAKE_OK);
	EXPECT(dlclose(driver[0]) == 0);
	launch_by(row, dlsym(driver[1], "cuLaunchKernel"));
	return TALLY(sync, cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "load"))
		return load();
	if (!strcmp(mode, "entry"))
		return entry();
	if (!strcmp(mode, "copies") && argc == 4)
		return copies(argv + 2);
	if (!strcmp(mode, "fork"))
		return fork_after();
	return strcmp(mode, "fail") ? begin() : fail();
}
