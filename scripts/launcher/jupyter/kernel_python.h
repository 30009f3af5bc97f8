/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python of a kernel: its path, its environment, and if it can be a kernel.
 */
#ifndef STAGEPROF_LAUNCHER_KERNEL_PYTHON_H
#define STAGEPROF_LAUNCHER_KERNEL_PYTHON_H

#include <limits.h>
#include <stdbool.h>

struct sp_kernel_python {
	char path[PATH_MAX];
	char prefix[PATH_MAX]; /* sys.prefix: of its environment */
	char version[16];      /* "3" */
	bool has_ipykernel;
};

/* Runs it without a preload. Returns 0; -ENOENT or -EACCES where `word` is no program; -EINVAL
 * where the program is no Python 3. */
int sp_kernel_python_ask(struct sp_kernel_python *ret, const char *word);

#endif
