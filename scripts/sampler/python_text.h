/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings and bytes of CPython in another process.
 */
#ifndef STAGEPROF_SAMPLER_PYTHON_TEXT_H
#define STAGEPROF_SAMPLER_PYTHON_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "scripts/sampler/python_layout.h"

/* Reads a str as UTF-8, at most room - 1 bytes and a NUL. Returns its bytes, or a negative error;
 * -EAGAIN: that is no str. */
int sp_python_text(char *ret, size_t room, const struct sp_python_layout *layout, pid_t pid,
		   uint64_t address);

/* Reads a bytes object of at most `most` bytes into malloc'd memory.
 * Returns 0 or a negative error. */
int sp_python_bytes(uint8_t **ret, uint32_t *ret_bytes, uint32_t most,
		    const struct sp_python_layout *layout, pid_t pid, uint64_t address);

#endif
