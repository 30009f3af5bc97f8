/*
 * NVTX v3: the ranges that a program marks for NVIDIA's tools. Each module that uses NVTX loads, at its
 * first call, the library that NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2
 * (nvtx3/nvtxDetail/nvtxInit.h). The variable is set to ourselves unless the user has set it.
 */
#ifndef STAGEPROF_PRELOAD_NVTX_H
#define STAGEPROF_PRELOAD_NVTX_H

/* Constructor of a recording process. */
void sp_nvtx_init(void);

#endif
