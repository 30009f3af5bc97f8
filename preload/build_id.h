/*
 * The GNU build id of a mapped object, from its notes in memory: with it a reader of the trace knows whether a file is
 * the one that ran. Layout: <elf.h>, NT_GNU_BUILD_ID.
 */
#ifndef STAGEPROF_PRELOAD_BUILD_ID_H
#define STAGEPROF_PRELOAD_BUILD_ID_H

#include <stdint.h>

#include "trace/format.h"

/*
 * Returns its bytes, 0 where the object has none, or -errno where its headers cannot be read or are not understood.
 * Some system calls: not for the hook path. An address that is wrong is an error. errno stays.
 */
long sp_build_id_read(const struct sp_object_facts *object, uint8_t ret[SP_BUILD_ID_BYTES_MAX]);

#endif
