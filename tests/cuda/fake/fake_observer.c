/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_observer.h"

const struct fake_observer *fake_observer;
__thread uint32_t fake_correlation;

void fakeCudaObserve(const struct fake_observer *observer)
{
	__atomic_store_n(&fake_observer, observer, __ATOMIC_RELEASE);
}

void fakeCudaBegin(struct fake_call *call)
{
	const struct fake_observer *observer = __atomic_load_n(&fake_observer, __ATOMIC_ACQUIRE);

	call->outer = fake_correlation;
	call->correlation =
		observer ? observer->begin(call->domain, call->function, call->outer) : 0;
	if (!fake_correlation)
		fake_correlation = call->correlation;
}

void fakeCudaEnd(struct fake_call *call)
{
	const struct fake_observer *observer = __atomic_load_n(&fake_observer, __ATOMIC_ACQUIRE);

	if (call->correlation && observer)
		observer->end(call->domain, call->function, call->correlation);
	fake_correlation = call->outer;
}
