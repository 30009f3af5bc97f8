/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_events.h"

#include <dlfcn.h>
#include <stddef.h>

#include "preload/cuda/abi_cuda.h"
#include "preload/resolve/dlsym_next.h"
#include "preload/recorder/intern.h"
#include "preload/resolve/originals.h"
#include "preload/sys/libdl.h"

#define GROUP "cuda-gpu-time"

struct sp_cuda_events sp_cuda_events;

/* Values of is_found other than 1. */
enum { NOT_YET, FOUND, SEEKING, UNFIT };
static int is_found;

static int find_all(void *library)
{
#define FIND(library, name)                                                                        \
	(sp_cuda_events.name = (__typeof__(sp_cuda_events.name))sp_dlsym_next(library, #name)) !=  \
		NULL
	return FIND(library, cuCtxGetCurrent) && FIND(library, cuCtxGetDevice) &&
	       FIND(library, cuCtxPushCurrent_v2) && FIND(library, cuCtxPopCurrent_v2) &&
	       FIND(library, cuEventCreate) && FIND(library, cuEventRecord) &&
	       FIND(library, cuEventQuery) && FIND(library, cuEventElapsedTime) &&
	       FIND(library, cuStreamIsCapturing) &&
	       FIND(library, cuThreadExchangeStreamCaptureMode);
#undef FIND
}

static int find_in(void *library)
{
	int r = find_all(library) ? FOUND : UNFIT;

	if (r == UNFIT)
		sp_dlerror_clear(); /* the host must not see our failure */
	sp_coverage_add(GROUP, r == FOUND ? "bound" : "unobservable",
			r == FOUND ? "events at the boundaries of stages"
				   : "the driver lacks a function");
	return r;
}

void sp_cuda_events_find(void)
{
	int expected = NOT_YET;
	void *library;

	if (!__atomic_compare_exchange_n(&is_found, &expected, SEEKING, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	library = sp_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (library) {
		expected = find_in(library);
		SP_REAL(dlclose)(library);
	} else {
		sp_dlerror_clear();
	}
	__atomic_store_n(&is_found, library ? expected : NOT_YET, __ATOMIC_RELEASE);
}

int sp_cuda_events_are_found(void)
{
	return __atomic_load_n(&is_found, __ATOMIC_ACQUIRE) == FOUND;
}

int sp_cuda_events_are_gone(void)
{
	Dl_info info;

	if (!sp_cuda_events_are_found() ||
	    sp_dladdr((const void *)sp_cuda_events.cuEventQuery, &info))
		return 0;
	__atomic_store_n(&is_found, NOT_YET, __ATOMIC_RELEASE);
	sp_coverage_add(GROUP, "unobservable",
			"the driver was unloaded: what was under way on it is given up");
	return 1;
}

int sp_cuda_relax(struct sp_cuda_relaxed *before)
{
	before->mode = SP_CUDA_CAPTURE_RELAXED;
	before->is_kept = sp_cuda_events.cuThreadExchangeStreamCaptureMode(&before->mode) == 0;
	return before->is_kept;
}

void sp_cuda_restore(struct sp_cuda_relaxed *before)
{
	if (before->is_kept)
		sp_cuda_events.cuThreadExchangeStreamCaptureMode(&before->mode);
}
