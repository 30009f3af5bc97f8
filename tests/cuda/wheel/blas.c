/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcublas of the test bed: each product is a kernel on its handle's stream, of the function's
 * name. Handles are opaque to callers; arguments that no body reads are left out of its prototype.
 */
#include "sizes.h"

struct handle {
	void *stream;
	int math, pointers;
};

int cublasCreate_v2(struct handle **ret);
int cublasCreate_v2(struct handle **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : 3;
}

int cublasDestroy_v2(struct handle *handle);
int cublasDestroy_v2(struct handle *handle)
{
	free(handle);
	return 0;
}

int cublasSetStream_v2(struct handle *handle, void *stream);
int cublasSetStream_v2(struct handle *handle, void *stream)
{
	handle->stream = stream;
	return 0;
}

int cublasSetWorkspace_v2(struct handle *handle, void *workspace, size_t bytes);
int cublasSetWorkspace_v2(struct handle *handle, void *workspace, size_t bytes)
{
	(void)handle, (void)workspace, (void)bytes;
	return 0;
}

int cublasSetMathMode(struct handle *handle, int mode);
int cublasSetMathMode(struct handle *handle, int mode)
{
	handle->math = mode;
	return 0;
}

int cublasGetMathMode(struct handle *handle, int *ret);
int cublasGetMathMode(struct handle *handle, int *ret)
{
	*ret = handle->math;
	return 0;
}

int cublasSetPointerMode_v2(struct handle *handle, int mode);
int cublasSetPointerMode_v2(struct handle *handle, int mode)
{
	handle->pointers = mode;
	return 0;
}

int cublasGetPointerMode_v2(struct handle *handle, int *ret);
int cublasGetPointerMode_v2(struct handle *handle, int *ret)
{
	*ret = handle->pointers;
	return 0;
}

int cublasSetSmCountTarget(struct handle *handle, int count);
int cublasSetSmCountTarget(struct handle *handle, int count)
{
	(void)handle, (void)count;
	return 0;
}

#define PRODUCT(name)                                                                              \
	int name(struct handle *handle);                                                           \
	int name(struct handle *handle)                                                            \
	{                                                                                          \
		CALLED(#name);                                                                     \
		return LAUNCH(#name, handle->stream);                                              \
	}
PRODUCT(cublasSgemm_v2)
PRODUCT(cublasSgemmStridedBatched)
PRODUCT(cublasSgemmBatched)
PRODUCT(cublasSgemv_v2)
PRODUCT(cublasDgemm_v2)
PRODUCT(cublasDgemmStridedBatched)
PRODUCT(cublasDgemmBatched)
PRODUCT(cublasDgemv_v2)
PRODUCT(cublasCgemm_v2)
PRODUCT(cublasCgemmStridedBatched)
PRODUCT(cublasCgemmBatched)
PRODUCT(cublasCgemv_v2)
PRODUCT(cublasZgemm_v2)
PRODUCT(cublasZgemmStridedBatched)
PRODUCT(cublasZgemmBatched)
PRODUCT(cublasZgemv_v2)
PRODUCT(cublasGemmEx)
PRODUCT(cublasGemmStridedBatchedEx)
PRODUCT(cublasSgemmEx)
PRODUCT(cublasSdot_v2)
PRODUCT(cublasDdot_v2)
PRODUCT(cublasDotEx)
PRODUCT(cublasSscal_v2)
PRODUCT(cublasSaxpy_v2)

/* Batches of factorizations and of solutions; the errors of a call lie in the host's memory, those
 * of the parts on the device. */
#define BATCHES(t)                                                                                 \
	PRODUCT(cublas##t##trsm_v2)                                                                \
	PRODUCT(cublas##t##trsmBatched)                                                            \
	KERNEL_WITH_INFOS(cublas##t##getrfBatched, g, P5, int *infos, long g)                      \
	KERNEL_WITH_INFO(cublas##t##getrsBatched, P9)                                              \
	KERNEL_WITH_INFO(cublas##t##geqrfBatched, P6)
BATCHES(S)
BATCHES(D)
BATCHES(C)
BATCHES(Z)
