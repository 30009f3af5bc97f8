/*
 * The environment that a host gives to what it starts. The list is the host's, and the kernel's to refuse: where
 * execve(2) would say EFAULT, we must not fault.
 */
#ifndef STAGEPROF_PRELOAD_ENVIRONMENT_H
#define STAGEPROF_PRELOAD_ENVIRONMENT_H

/*
 * Whether the list has a value of LD_PRELOAD, or cannot be read. The host's own `environ` is taken as it is; any
 * other list is read by the kernel for us (process_vm_readv(2), two calls for 16 entries), but where that is
 * forbidden or `in_sandbox`. Safe in signal handlers and vfork children.
 */
int sp_environment_preloads(char *const envp[], int in_sandbox);

#endif
