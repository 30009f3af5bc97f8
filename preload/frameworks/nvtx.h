/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX v3: the ranges that a program marks for NVIDIA's tools. At its first call, each module
 * that uses NVTX loads the library that NVTX_INJECTION64_PATH names and calls its
 * InitializeInjectionNvtx2 (nvtx3/nvtxDetail/nvtxInit.h). The variable is set to this library
 * unless the user has set it.
 */
#ifndef STAGEPROF_PRELOAD_NVTX_H
#define STAGEPROF_PRELOAD_NVTX_H

/* Constructor of a recording process. */
void sp_nvtx_init(void);

#endif
