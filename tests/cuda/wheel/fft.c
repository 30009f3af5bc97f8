/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcufft of the test bed: each transform is one kernel on its plan's stream. A plan is a number.
 */
#include "sizes.h"

#define PLANS_MAX 4096

static struct sim_handle plans[PLANS_MAX];
static int plan_count;

int cufftCreate(int *ret);
int cufftCreate(int *ret)
{
	*ret = __atomic_add_fetch(&plan_count, 1, __ATOMIC_RELAXED);
	return *ret < PLANS_MAX ? 0 : 2;
}

int cufftSetStream(int plan, void *stream);
int cufftSetStream(int plan, void *stream)
{
	plans[plan].stream = stream;
	return 0;
}

int cufftXtExec(int plan);
int cufftXtExec(int plan)
{
	CALLED("cufftXtExec");
	return LAUNCH("cufftXtExec", plans[plan].stream);
}

SIZE_AFTER(cufftXtMakePlanMany, size_t, P12)
IGNORES(cufftDestroy)
IGNORES(cufftSetAutoAllocation)
IGNORES(cufftSetWorkArea)
