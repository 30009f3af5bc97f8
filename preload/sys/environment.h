/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment that a host passes to a program. The list belongs to the host, and the kernel
 * may refuse it: where execve(2) would return EFAULT, this code must not fault.
 */
#ifndef STAGEPROF_PRELOAD_ENVIRONMENT_H
#define STAGEPROF_PRELOAD_ENVIRONMENT_H

/*
 * Returns 1 if the list has a value of LD_PRELOAD, or cannot be read. The host's own `environ` is
 * read directly. The kernel reads any other list for us (process_vm_readv(2), two calls for 16
 * entries), unless that is forbidden or `in_sandbox`. Safe in signal handlers and vfork children.
 */
int sp_environment_preloads(char *const envp[], int in_sandbox);

#endif
