/*
 * dlsym, so that those who look the CUDA driver's functions up by name get hooked ones: the static runtime
 * inside programs and inside cuBLAS, cuDNN and NCCL, Triton, CuPy, JAX. And NCCL's, for Paddle and
 * ctypes.
 *
 * The exported dlsym is an assembly stub. It looks at the name and jumps to the next dlsym, so that the
 * caller's place, and with it RTLD_NEXT and RTLD_DEFAULT, keep their meaning. Only where the name is one of
 * the driver's or of NCCL's that are hooked (exact names; cuGetExportTable is not among them) does the
 * call come here.
 * With RTLD_NEXT nothing is changed. With RTLD_DEFAULT a name that only this library defines is not found,
 * as without it.
 *
 * dlvsym is left alone: these functions have no versions.
 */
#ifndef STAGEPROF_PRELOAD_DLSYM_STUB_H
#define STAGEPROF_PRELOAD_DLSYM_STUB_H

/* The next dlsym, past our stub; the caller is this library. For names of the driver and of NCCL;
 * others may use dlsym. */
void *sp_dlsym_next(void *handle, const char *name);

#endif
