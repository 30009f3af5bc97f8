/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGEPROF_SAMPLER_LINE_TABLE_H
#define STAGEPROF_SAMPLER_LINE_TABLE_H

#include <stdint.h>

#include "scripts/sampler/python_layout.h"

/* The line of an instruction, which is bytes after the first one. 0: the table has none. */
uint32_t sp_line_table_find(const uint8_t *table, uint32_t bytes, enum sp_python_place place,
			    uint32_t first_line, int64_t instruction);

#endif
