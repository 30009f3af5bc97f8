/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/freeze.h"

#include "preload/sys/log_once.h"

static int frozen;

void sp_process_freeze(void)
{
	__atomic_store_n(&frozen, 1, __ATOMIC_RELAXED);
	sp_log_stop();
}

int sp_process_is_frozen(void)
{
	return __atomic_load_n(&frozen, __ATOMIC_RELAXED);
}
