/* launch_price CALLS: launches and prints what one takes, in ns of CPU time. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fake_cuda.h"

int main(int argc, char **argv)
{
	static const struct fake_dim3 one = {1, 1, 1};
	long calls = argc > 1 ? atol(argv[1]) : 1000000;
	struct timespec from, to;
	int failed = 0;

	for (long i = 0; i < calls / 10; i++)
		failed |= cudaLaunchKernel(argv, one, one, NULL, 0, NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (long i = 0; i < calls; i++)
		failed |= cudaLaunchKernel(argv, one, one, NULL, 0, NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("%.3f\n", (double)((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec) /
				 (double)calls);
	return failed;
}
