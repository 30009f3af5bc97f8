/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython in another process: where its state is, and of which version it is. The symbols of the
 * mapped file say so; nothing is searched in memory.
 */
#ifndef STAGEPROF_SAMPLER_PYTHON_FIND_H
#define STAGEPROF_SAMPLER_PYTHON_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "scripts/sampler/python_layout.h"

struct sp_sampled_python {
	uint64_t runtime;   /* address of _PyRuntime */
	uint64_t code_type; /* address of PyCode_Type */
	uint32_t version;   /* 3 << 8 | minor */
	uint32_t family;    /* the same in a process and its forked children */
	struct sp_python_layout layout;
};

/* Returns 0, -ENOENT where the process has no CPython (yet), -ENOTSUP where its version is not
 * known or its build is free-threaded, -ESRCH where it has ended, or -EPERM or -ENOSYS where it may
 * not be read. */
int sp_sampled_python_find(struct sp_sampled_python *ret, pid_t pid);

/* True where a process in which no CPython was found has a Python by its name: PyPy, or a program
 * without symbols. */
bool sp_python_is_foreign(pid_t pid);

#endif
