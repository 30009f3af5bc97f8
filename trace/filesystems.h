/*
 * File systems by the magic number that statfs(2) gives. Pure functions, async-signal-safe.
 */
#ifndef STAGEPROF_TRACE_FILESYSTEMS_H
#define STAGEPROF_TRACE_FILESYSTEMS_H

#include <stdint.h>

enum sp_fs_kind { SP_FS_LOCAL = 1, SP_FS_NETWORK, SP_FS_MEMORY, SP_FS_KERNEL };

struct sp_file_system {
	uint32_t magic;
	enum sp_fs_kind kind;
	const char *name;
};

/* Rows of trace/filesystems.def; `row` in [0, sp_file_systems()). */
uint32_t sp_file_systems(void);
const struct sp_file_system *sp_file_system(uint32_t row);

/* The row of a magic, or sp_file_systems() where the table does not have it. f_type's upper half is ignored:
 * magics of 32 bits come sign-extended. */
uint32_t sp_file_system_row(uint64_t magic);

#endif
