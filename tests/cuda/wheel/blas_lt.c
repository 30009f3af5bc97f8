/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcublasLt of the test bed: descriptions are opaque, each product has one algorithm.
 */
#include "library.h"

#include <string.h>

/* cublasLtMatmulHeuristicResult_t, of NVIDIA's documentation */
struct heuristic {
	uint64_t algorithm[8];
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

static int make(void **ret)
{
	*ret = calloc(1, 64);
	return *ret ? 0 : 3;
}

static int drop(void *description)
{
	free(description);
	return 0;
}

#define DESCRIPTION(name)                                                                          \
	int cublasLt##name##Create(void **ret);                                                    \
	int cublasLt##name##Create(void **ret)                                                     \
	{                                                                                          \
		return make(ret);                                                                  \
	}                                                                                          \
	int cublasLt##name##Destroy(void *description);                                            \
	int cublasLt##name##Destroy(void *description)                                             \
	{                                                                                          \
		return drop(description);                                                          \
	}                                                                                          \
	int cublasLt##name##SetAttribute(void *description);                                       \
	int cublasLt##name##SetAttribute(void *description)                                        \
	{                                                                                          \
		(void)description;                                                                 \
		return 0;                                                                          \
	}
DESCRIPTION(MatmulDesc)
DESCRIPTION(MatrixLayout)
DESCRIPTION(MatmulPreference)

size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
	return 130000;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c,
				   void *d, void *preference, int asked, struct heuristic *ret,
				   int *ret_count);
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c,
				   void *d, void *preference, int asked, struct heuristic *ret,
				   int *ret_count)
{
	(void)handle, (void)operation, (void)a, (void)b, (void)c, (void)d, (void)preference;
	*ret_count = asked > 0;
	if (asked > 0)
		memset(ret, 0, sizeof(*ret));
	return 0;
}

int cublasLtMatmul(void *handle, void *operation, const void *alpha, const void *a, void *la,
		   const void *b, void *lb, const void *beta, const void *c, void *lc, void *d,
		   void *ld, const void *algorithm, void *workspace, size_t bytes, void *stream);
int cublasLtMatmul(void *handle, void *operation, const void *alpha, const void *a, void *la,
		   const void *b, void *lb, const void *beta, const void *c, void *lc, void *d,
		   void *ld, const void *algorithm, void *workspace, size_t bytes, void *stream)
{
	(void)handle, (void)operation, (void)alpha, (void)a, (void)la, (void)b, (void)lb,
		(void)beta, (void)c, (void)lc, (void)d, (void)ld, (void)algorithm, (void)workspace,
		(void)bytes;
	CALLED("cublasLtMatmul");
	return LAUNCH("cublasLtMatmul", stream);
}
