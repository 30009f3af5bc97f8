/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnvrtc of the test bed: a program compiles to a few bytes that the bed's driver loads, and a
 * kernel keeps the name by which it was asked for.
 */
#include <string.h>

#include "sizes.h"

#define IMAGE "image of the test bed"

MAKES(nvrtcCreateProgram)
IGNORES(nvrtcAddNameExpression)

int nvrtcDestroyProgram(void **program);
int nvrtcDestroyProgram(void **program)
{
	free(*program);
	*program = NULL;
	return 0;
}

int nvrtcVersion(int *ret_major, int *ret_minor);
int nvrtcVersion(int *ret_major, int *ret_minor)
{
	*ret_major = CUDA_VERSION / 1000;
	*ret_minor = CUDA_VERSION % 1000 / 10;
	return 0;
}

int nvrtcCompileProgram(void *program);
int nvrtcCompileProgram(void *program)
{
	(void)program;
	CALLED("nvrtcCompileProgram");
	return 0;
}

int nvrtcGetLoweredName(void *program, const char *expression, const char **ret);
int nvrtcGetLoweredName(void *program, const char *expression, const char **ret)
{
	(void)program;
	*ret = strdup(expression);
	return *ret ? 0 : 1;
}

#define IMAGE_OF(kind)                                                                             \
	int nvrtcGet##kind##Size(void *program, size_t *ret);                                      \
	int nvrtcGet##kind##Size(void *program, size_t *ret)                                       \
	{                                                                                          \
		(void)program;                                                                     \
		*ret = sizeof(IMAGE);                                                              \
		return 0;                                                                          \
	}                                                                                          \
	int nvrtcGet##kind(void *program, char *ret);                                              \
	int nvrtcGet##kind(void *program, char *ret)                                               \
	{                                                                                          \
		(void)program;                                                                     \
		memcpy(ret, IMAGE, sizeof(IMAGE));                                                 \
		return 0;                                                                          \
	}
IMAGE_OF(CUBIN)
IMAGE_OF(PTX)
IMAGE_OF(ProgramLog)

const char *nvrtcGetErrorString(int error);
const char *nvrtcGetErrorString(int error)
{
	return error ? "an error of the test bed" : "no error";
}
