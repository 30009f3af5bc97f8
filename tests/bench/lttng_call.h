/* SPDX-License-Identifier: Apache-2.0 */
/* The one event of lttng_wrap.c: as much as a hook of ours records of a call. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER stageprof_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng_call.h"

#if !defined(STAGEPROF_TESTS_BENCH_LTTNG_CALL_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define STAGEPROF_TESTS_BENCH_LTTNG_CALL_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	stageprof_bench, call,
	LTTNG_UST_TP_ARGS(uint64_t, start, uint64_t, ticks, uint32_t, kind, int64_t, value),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, start, start)
				    lttng_ust_field_integer(uint64_t, ticks, ticks)
					    lttng_ust_field_integer(uint32_t, kind, kind)
						    lttng_ust_field_integer(int64_t, value, value)))

#endif

#include <lttng/tracepoint-event.h>
