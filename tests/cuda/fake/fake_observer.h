/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake driver's reports to an observer: libcupti's private interface of the driver. Work is
 * given with the correlation id of the outermost call that gave it.
 */
#ifndef FAKE_OBSERVER_H
#define FAKE_OBSERVER_H

#include <stdint.h>

#include "fake_stream.h"

enum { FAKE_DRIVER = 1, FAKE_RUNTIME = 2 }; /* as CUPTI numbers its domains */

struct fake_observer {
	/* Gives the call its id; outermost: that of the call that it is made in, or 0. */
	uint32_t (*begin)(int domain, const char *function, uint32_t outermost);
	void (*end)(int domain, const char *function, uint32_t correlation);
	void (*work)(const struct fake_work *work, uint64_t begin_ns,
		     uint64_t end_ns); /* CLOCK_MONOTONIC */
};

struct fake_call {
	int domain;
	const char *function;
	uint32_t correlation; /* 0: nobody watches */
	uint32_t outer;
};

/* Exported by libcuda.so.1, for libcupti and for the runtime. */
void fakeCudaObserve(const struct fake_observer *observer);
void fakeCudaBegin(struct fake_call *call);
void fakeCudaEnd(struct fake_call *call);

extern __thread uint32_t fake_correlation; /* of the outermost call */
extern const struct fake_observer *fake_observer;

#endif
