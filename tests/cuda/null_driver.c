/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that does nothing, for the price of a hook: what a launch costs that is found by
 * cuGetProcAddress. */
#include <string.h>

#include "fake_cuda.h"

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
	(void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
	(void)shared, (void)stream, (void)arguments, (void)extra;
	return FAKE_OK;
}

/* Ours, by no name that is hooked. */
void *nullLaunch(void);

void *nullLaunch(void)
{
	return (void *)cuLaunchKernel;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
			int *status)
{
	(void)version, (void)flags, (void)status;
	*function = strcmp(symbol, "cuLaunchKernel") ? NULL : (void *)cuLaunchKernel;
	return *function ? FAKE_OK : FAKE_NOT_FOUND;
}
