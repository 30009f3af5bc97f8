/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcusolver of the test bed: each factorization, and each solution by one, is one kernel. No
 * error is found.
 */
#include "sizes.h"

MAKES(cusolverDnCreate)
MAKES(cusolverDnCreateGesvdjInfo)
MAKES(cusolverDnCreateParams)
DROPS(cusolverDnDestroy)
DROPS(cusolverDnDestroyGesvdjInfo)
DROPS(cusolverDnDestroyParams)
SETS_STREAM(cusolverDnSetStream)
IGNORES(cusolverDnXgesvdjSetMaxSweeps)
IGNORES(cusolverDnXgesvdjSetSortEig)
IGNORES(cusolverDnXgesvdjSetTolerance)

/* A function of one type of numbers: the places before its error, and before the size of its
 * workspace. */
#define SIZED(name, info, size)                                                                    \
	KERNEL_WITH_INFO(name, info)                                                               \
	SIZE_AFTER(name##_bufferSize, int, size)

#define REAL_AND_COMPLEX(t)                                                                        \
	SIZED(cusolverDn##t##geqrf, P8, P5)                                                        \
	SIZED(cusolverDn##t##gesvd, P15, P3)                                                       \
	SIZED(cusolverDn##t##gesvdj, P14, P12)                                                     \
	SIZED(cusolverDn##t##getrf, P7, P5)                                                        \
	SIZED(cusolverDn##t##potrf, P7, P5)                                                        \
	SIZED(cusolverDn##t##sytrf, P8, P4)                                                        \
	KERNEL_WITH_INFO(cusolverDn##t##getrs, P9)                                                 \
	KERNEL_WITH_INFO(cusolverDn##t##potrs, P8)                                                 \
	KERNEL_WITH_INFO(cusolverDn##t##potrsBatched, P8)                                          \
	KERNEL_WITH_INFOS(cusolverDn##t##potrfBatched, g, P5, int *infos, long g)                  \
	KERNEL_WITH_INFOS(cusolverDn##t##gesvdjBatched, p, P13, int *infos, long o, long p)        \
	SIZE_AFTER(cusolverDn##t##gesvdjBatched_bufferSize, int, P11)                              \
	KERNEL_WITH_INFOS(cusolverDn##t##gesvdaStridedBatched, u, P18, int *infos, long t_,        \
			  long u)                                                                  \
	SIZE_AFTER(cusolverDn##t##gesvdaStridedBatched_bufferSize, int, P16)
#define EIGENVALUES(name)                                                                          \
	SIZED(name##d, P9, P7)                                                                     \
	KERNEL_WITH_INFOS(name##jBatched, l, P9, int *infos, long k, long l)                       \
	SIZE_AFTER(name##jBatched_bufferSize, int, P7)
#define REAL(t)                                                                                    \
	SIZED(cusolverDn##t##orgqr, P9, P7)                                                        \
	SIZED(cusolverDn##t##ormqr, P13, P11)                                                      \
	EIGENVALUES(cusolverDn##t##syev)
#define COMPLEX(t)                                                                                 \
	SIZED(cusolverDn##t##ungqr, P9, P7)                                                        \
	SIZED(cusolverDn##t##unmqr, P13, P11)                                                      \
	EIGENVALUES(cusolverDn##t##heev)
REAL_AND_COMPLEX(S)
REAL_AND_COMPLEX(D)
REAL_AND_COMPLEX(C)
REAL_AND_COMPLEX(Z)
REAL(S)
REAL(D)
COMPLEX(C)
COMPLEX(Z)

/* Functions of any type of numbers have a workspace on the device and one on the host. */
#define ANY(name, info, sizes)                                                                     \
	KERNEL_WITH_INFO(name, info)                                                               \
	TWO_SIZES_AFTER(name##_bufferSize, sizes)
ANY(cusolverDnXgeev, P21, P17)
ANY(cusolverDnXgeqrf, P14, P10)
ANY(cusolverDnXpotrf, P12, P8)
ANY(cusolverDnXsyevd, P15, P11)
ANY(cusolverDnXsytrs, P15, P11)
KERNEL_WITH_INFO(cusolverDnXpotrs, P11)
KERNEL_WITH_INFOS(cusolverDnXsyevBatched, q, P15, int *infos, long q)
TWO_SIZES_AFTER(cusolverDnXsyevBatched_bufferSize, P11)
