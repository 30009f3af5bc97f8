/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUPTI's ABI that is used; the build needs no header of CUPTI. LP64, read off
 * CUDA 13.0's cupti_activity.h, cupti_activity_deprecated.h, cupti_callbacks.h, cupti_result.h and
 * cupti_version.h.
 *
 * A record has grown at its end with every version since CUDA 9.0 (CUpti_ActivityKernel4 to 10,
 * CUpti_ActivityMemcpy to 6, MemcpyPtoP to 4, Memset to 4): the fields used here kept their places
 * in all of them. tests/cuda compares them with the headers that are installed.
 */
#ifndef STAGEPROF_PRELOAD_ABI_CUPTI_H
#define STAGEPROF_PRELOAD_ABI_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* CUptiResult */
enum {
	SP_CUPTI_NO_MORE = 12,	     /* MAX_LIMIT_REACHED: of a buffer's records */
	SP_CUPTI_NOT_PERMITTED = 35, /* INSUFFICIENT_PRIVILEGES */
	SP_CUPTI_TAKEN = 39,	     /* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
};

/* CUpti_ActivityKind */
enum {
	SP_CUPTI_MEMCPY = 1,
	SP_CUPTI_MEMSET = 2,
	SP_CUPTI_KERNEL = 10, /* CONCURRENT_KERNEL: kernels are not made to wait for each other */
	SP_CUPTI_MEMCPY_PEER = 22, /* MEMCPY2 */
};

/* CUpti_CallbackDomain */
enum {
	SP_CUPTI_DRIVER = 1,
	SP_CUPTI_RUNTIME = 2,
};

#define SP_CUPTI_FLUSH_FORCED                                                                      \
	1u /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: also returns incomplete records */

/* cuptiGetVersion: 13 is CUDA 11.0, and with CUDA 13.0 it becomes major * 10000 + … Of others,
 * nothing is known. */
static inline int sp_cupti_version_is_known(uint32_t version)
{
	return (version >= 13 && version < 100) || (version >= 130000 && version < 140000);
}

/* CUpti_ActivityKernel4 and later. Times are ns of cuptiGetTimestamp's clock; 0: not known. */
struct sp_cupti_kernel {
	uint32_t kind;
	uint32_t unread0[3];
	uint64_t start, end;
	uint64_t completed;
	uint32_t device, context, stream;
	uint32_t unread1[10]; /* grid, block, memory */
	uint32_t correlation;
	int64_t grid;
	const char *name;
};

/* CUpti_ActivityMemcpy and later. */
struct sp_cupti_memcpy {
	uint32_t kind;
	uint8_t direction;	/* CUpti_ActivityMemcpyKind */
	uint8_t source, target; /* CUpti_ActivityMemoryKind */
	uint8_t flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
};

/* CUpti_ActivityMemcpyPtoP and later. */
struct sp_cupti_memcpy_peer {
	uint32_t kind;
	uint8_t direction, source, target, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, target_device, target_context;
	uint32_t correlation;
};

/* CUpti_ActivityMemset and later. */
struct sp_cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
};

/* CUpti_ActivityMemoryKind, of the host */
enum {
	SP_CUPTI_PAGEABLE = 1,
	SP_CUPTI_PINNED = 2,
};

/* CUpti_CallbackData */
struct sp_cupti_call_data {
	uint32_t site; /* 0: the call begins */
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

typedef void (*sp_cupti_request)(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void (*sp_cupti_complete)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				  size_t used);
typedef void (*sp_cupti_callback)(void *user, uint32_t domain, uint32_t id,
				  const struct sp_cupti_call_data *data);

#endif
