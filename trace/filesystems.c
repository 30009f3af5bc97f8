/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/filesystems.h"

static const struct sp_file_system table[] = {
#define SP_FILE_SYSTEM(magic, name, kind, space) {magic, SP_FS_##kind, name, SP_FS_##space},
#include "trace/filesystems.def"
#undef SP_FILE_SYSTEM
};

uint32_t sp_file_systems(void)
{
	return sizeof(table) / sizeof(table[0]);
}

const struct sp_file_system *sp_file_system(uint32_t row)
{
	return &table[row];
}

uint32_t sp_file_system_row(uint64_t magic)
{
	uint32_t row = 0;

	while (row < sp_file_systems() && table[row].magic != (uint32_t)magic)
		row++;
	return row;
}
