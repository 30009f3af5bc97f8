/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGEPROF_SAMPLER_READ_RIGHT_H
#define STAGEPROF_SAMPLER_READ_RIGHT_H

enum sp_read_right {
	SP_READ_ALLOWED,
	SP_READ_YAMA,	  /* kernel.yama.ptrace_scope is 2 or 3 */
	SP_READ_FILTERED, /* by a filter of system calls */
	SP_READ_MISSING,  /* the kernel has no process_vm_readv */
	SP_READ_REFUSED,  /* for another reason */
};

/* The right of this process to read the memory of its children. Makes a child and tries. */
enum sp_read_right sp_read_right_find(void);

#endif
