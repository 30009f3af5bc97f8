/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems by the magic number of statfs(2). Pure functions, async-signal-safe.
 */
#ifndef STAGEPROF_TRACE_FILESYSTEMS_H
#define STAGEPROF_TRACE_FILESYSTEMS_H

#include <stdint.h>

enum sp_fs_kind { SP_FS_LOCAL = 1, SP_FS_NETWORK, SP_FS_MEMORY, SP_FS_KERNEL };
enum sp_fs_space { SP_FS_ASKED, SP_FS_KEPT };

struct sp_file_system {
	uint32_t magic;
	enum sp_fs_kind kind;
	const char *name;
	enum sp_fs_space space;
};

/* Rows of trace/filesystems.def; `row` in [0, sp_file_systems()). */
uint32_t sp_file_systems(void);
const struct sp_file_system *sp_file_system(uint32_t row);

/* The row of a magic, or sp_file_systems() if the table lacks it. The upper half of f_type is
 * ignored, because the kernel sign-extends magics of 32 bits. */
uint32_t sp_file_system_row(uint64_t magic);

#endif
