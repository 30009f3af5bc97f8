/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holder of a file lock, as the kernel shows it: in /proc/locks, and of locks of open file
 * descriptions (F_OFD_SETLKW), which have no pid there, among the descriptors of all processes.
 */
#ifndef STAGEPROF_TRACE_FILE_LOCK_HOLDER_H
#define STAGEPROF_TRACE_FILE_LOCK_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* The inode of a descriptor; 0: not known (kernels before 5.14). No file system is asked. */
uint64_t sp_descriptor_inode(uint32_t pid, unsigned fd);

/*
 * inode 0: that of any lock that the process waits for; else its other locks are no match. is_ofd:
 * it waits for its open file description, so the kernel does not say that the process waits.
 * Returns the file's inode, or 0 where no lock is known that the process waits for. ret_holder: 0
 * where the holder is not known.
 */
uint64_t sp_file_lock_holder(uint32_t pid, uint64_t inode, bool is_ofd, uint32_t *ret_holder);

#endif
