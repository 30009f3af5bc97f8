/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GNU build id of a mapped object, from its notes in memory. By the id a reader of the trace
 * recognizes the file that ran. Layout: <elf.h>, NT_GNU_BUILD_ID.
 */
#ifndef STAGEPROF_PRELOAD_BUILD_ID_H
#define STAGEPROF_PRELOAD_BUILD_ID_H

#include <stdint.h>

#include "trace/format.h"

/*
 * Returns the id's bytes, 0 if the object has none, or -errno if its headers cannot be read or
 * understood. A wrong address is an error, not a crash. Makes system calls: not for the hook
 * path. errno is kept.
 */
long sp_build_id_read(const struct sp_object_metadata *object, uint8_t ret[SP_BUILD_ID_BYTES_MAX]);

#endif
