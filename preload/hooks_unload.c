/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlclose: addresses that were found in a library do not hold after the library is gone.
 */
#include <dlfcn.h>

#include "preload/cuda/cuda_driver.h"
#include "preload/cuda/cuda_time.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

SP_HOOK(int, dlclose, void *handle)
{
	int begun = sp_cuda_time_close_begin(), ret = SP_REAL(dlclose)(handle);

	sp_resolve_invalidate();
	sp_cuda_driver_invalidate();
	sp_cuda_time_close_end(begun);
	return ret;
}
