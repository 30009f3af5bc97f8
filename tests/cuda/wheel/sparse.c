/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcusparse of the test bed: products of sparse matrices with dense ones, and triangular solves.
 * Products of two sparse matrices have no body, because the size of their result is read.
 */
#include "sizes.h"

MAKES(cusparseCreate)
MAKES(cusparseCreateCoo)
MAKES(cusparseCreateCsr)
MAKES(cusparseCreateDnMat)
MAKES(cusparseCreateDnVec)
MAKES(cusparseCreateMatDescr)
MAKES(cusparseSpSM_createDescr)
MAKES(cusparseSpSV_createDescr)
DROPS(cusparseDestroy)
DROPS(cusparseDestroyDnMat)
DROPS(cusparseDestroyDnVec)
DROPS(cusparseDestroyMatDescr)
DROPS(cusparseDestroySpMat)
DROPS(cusparseSpSM_destroyDescr)
DROPS(cusparseSpSV_destroyDescr)
SETS_STREAM(cusparseSetStream)
IGNORES(cusparseCsrSetPointers)
IGNORES(cusparseCsrSetStridedBatch)
IGNORES(cusparseDnMatSetStridedBatch)
IGNORES(cusparseSDDMM_preprocess)
IGNORES(cusparseSetMatDiagType)
IGNORES(cusparseSetMatFillMode)
IGNORES(cusparseSetMatIndexBase)
IGNORES(cusparseSetMatType)
IGNORES(cusparseSetPointerMode)
IGNORES(cusparseSpMatSetAttribute)

SIZE_AFTER(cusparseSDDMM_bufferSize, size_t, P10)
SIZE_AFTER(cusparseSpMM_bufferSize, size_t, P10)
SIZE_AFTER(cusparseSpMV_bufferSize, size_t, P9)
SIZE_AFTER(cusparseSpSM_bufferSize, size_t, P10)
SIZE_AFTER(cusparseSpSV_bufferSize, size_t, P9)
SIZE_AFTER(cusparseXcoosort_bufferSizeExt, size_t, P6)
SIZE_AFTER(cusparseXcsrsort_bufferSizeExt, size_t, P6)

KERNEL(cusparseCreateIdentityPermutation)
KERNEL(cusparseSDDMM)
KERNEL(cusparseSpMM)
KERNEL(cusparseSpMV)
KERNEL(cusparseSpSM_analysis)
KERNEL(cusparseSpSM_solve)
KERNEL(cusparseSpSV_analysis)
KERNEL(cusparseSpSV_solve)
KERNEL(cusparseXcoo2csr)
KERNEL(cusparseXcoosortByRow)
KERNEL(cusparseXcsrsort)

const char *cusparseGetErrorString(int error);
const char *cusparseGetErrorString(int error)
{
	return error ? "an error of the test bed" : "no error";
}
