/*
 * launch_price CALLS [driver|nested]: launches and prints what one takes, in ns of CPU time. driver: as cuBLAS does, by a
 * function that cuGetProcAddress gave; nested: by the runtime, whose launch goes on to the driver's.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_cuda.h"

typedef int launch_function(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
			    void **);

void nullNests(launch_function *driver);

static launch_function *driver;

static launch_function *find(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *function = NULL;
	int (*get)(const char *, void **, int, uint64_t, int *), status;

	if (!library)
		exit(2);
	get = (__typeof__(get))dlsym(library, "cuGetProcAddress_v2");
	if (!get || get("cuLaunchKernel", &function, 13000, 0, &status) != FAKE_OK)
		exit(2);
	return (launch_function *)function;
}

static int launch(char **argument)
{
	static const struct fake_dim3 one = {1, 1, 1};

	return driver ? driver(argument, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) :
			cudaLaunchKernel(argument, one, one, NULL, 0, NULL);
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000000;
	const char *how = argc > 2 ? argv[2] : "";
	struct timespec from, to;
	int failed = 0;

	if (!strcmp(how, "driver"))
		driver = find();
	if (!strcmp(how, "nested"))
		nullNests(find());
	for (long i = 0; i < calls / 10; i++)
		failed |= launch(argv);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (long i = 0; i < calls; i++)
		failed |= launch(argv);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("%.3f\n", (double)((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec) /
				 (double)calls);
	return failed;
}
