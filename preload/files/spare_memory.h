/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of spare files, and the switch, of a run that maps no file: in shared memory of the
 * system (trace/format.h), which goes when the last process that has it ends, however that is.
 * Forked processes inherit it. A note in the marker leads a process that joins the run by exec to
 * it; the memory itself shows whether the note is right. Where the system gives no such memory, the
 * table is for a process and what it forks.
 */
#ifndef STAGEPROF_PRELOAD_SPARE_MEMORY_H
#define STAGEPROF_PRELOAD_SPARE_MEMORY_H

#include "preload/files/spare_files.h"

/*
 * Call with all signals blocked; `marker_fd` is the marker, open for both, with room for notes. New
 * memory begins with the marker's switch. NULL: no memory, and *ret_off stays as it is.
 */
struct sp_spare_table *sp_spare_memory_join(long marker_fd, uint32_t **ret_off);

#endif
