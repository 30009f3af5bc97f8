/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries whose results no test reads: handles, sizes of workspaces, and calls that are one
 * kernel each. Only the place of a pointer among the arguments counts, which is that of NVIDIA's
 * documentation; no scalar is a floating-point number, so each argument takes one place.
 */
#ifndef SIM_SIZES_H
#define SIM_SIZES_H

#include <string.h>

#include "library.h"

struct sim_handle {
	void *stream;
};

#define P3 long a, long b, long c
#define P4 P3, long d
#define P5 P4, long e
#define P6 P5, long f
#define P7 P6, long g
#define P8 P7, long h
#define P9 P8, long i
#define P10 P9, long j
#define P11 P10, long k
#define P12 P11, long l
#define P13 P12, long m
#define P14 P13, long n
#define P15 P14, long o
#define P16 P15, long p
#define P17 P16, long q
#define P18 P17, long r
#define P19 P18, long s
#define P20 P19, long t
#define P21 P20, long u

/* No memory beside the operands. The last argument of the macro is the places before the size's
 * pointer. */
#define SIZE_AFTER(name, type, ...)                                                                \
	int name(__VA_ARGS__, type *ret);                                                          \
	int name(__VA_ARGS__, type *ret)                                                           \
	{                                                                                          \
		*ret = 0;                                                                          \
		return 0;                                                                          \
	}

#define TWO_SIZES_AFTER(name, ...)                                                                 \
	int name(__VA_ARGS__, size_t *ret_device, size_t *ret_host);                               \
	int name(__VA_ARGS__, size_t *ret_device, size_t *ret_host)                                \
	{                                                                                          \
		*ret_device = *ret_host = 0;                                                       \
		return 0;                                                                          \
	}

/* Calls whose first argument gets an object without meaning. */
#define MAKES(name)                                                                                \
	int name(void **ret);                                                                      \
	int name(void **ret)                                                                       \
	{                                                                                          \
		*ret = calloc(1, 64);                                                              \
		return *ret ? 0 : 1;                                                               \
	}

#define DROPS(name)                                                                                \
	int name(void *object);                                                                    \
	int name(void *object)                                                                     \
	{                                                                                          \
		free(object);                                                                      \
		return 0;                                                                          \
	}

#define IGNORES(name)                                                                              \
	int name(void);                                                                            \
	int name(void)                                                                             \
	{                                                                                          \
		return 0;                                                                          \
	}

#define KERNEL(name)                                                                               \
	int name(struct sim_handle *handle);                                                       \
	int name(struct sim_handle *handle)                                                        \
	{                                                                                          \
		CALLED(#name);                                                                     \
		return LAUNCH(#name, handle->stream);                                              \
	}

/* A kernel that leaves no error in the place after the others, or in as many as `batch` says. */
#define KERNEL_WITH_INFO(name, ...)                                                                \
	int name(__VA_ARGS__, int *info);                                                          \
	int name(__VA_ARGS__, int *info)                                                           \
	{                                                                                          \
		CALLED(#name);                                                                     \
		*info = 0;                                                                         \
		return LAUNCH(#name, ((struct sim_handle *)a)->stream);                            \
	}
#define KERNEL_WITH_INFOS(name, batch, ...)                                                        \
	int name(__VA_ARGS__);                                                                     \
	int name(__VA_ARGS__)                                                                      \
	{                                                                                          \
		CALLED(#name);                                                                     \
		memset(infos, 0, (size_t)(int)(batch) * sizeof(*infos));                           \
		return LAUNCH(#name, ((struct sim_handle *)a)->stream);                            \
	}

#define SETS_STREAM(name)                                                                          \
	int name(struct sim_handle *handle, void *stream);                                         \
	int name(struct sim_handle *handle, void *stream)                                          \
	{                                                                                          \
		handle->stream = stream;                                                           \
		return 0;                                                                          \
	}

#endif
