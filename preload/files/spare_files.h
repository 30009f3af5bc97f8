/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that their writers left: the next thread of the run continues one of them instead of making
 * a file, so a run has about as many files as it had threads at once.
 *
 * A table names each file and the process that writes to it. An entry changes hands by one
 * compare-and-swap of its word. A file is spare after its writer's clean end, and after the death
 * of the process that held it. The table is a part of the run's marker, which all processes of the
 * run map, where the file system lets files be mapped: there all processes have one kernel. In
 * write mode it lies in memory (preload/files/spare_memory.h).
 *
 * All functions are for the rare steps of a thread, async-signal-safe, and never wait. A process
 * that is killed inside of one of them leaves an entry that is used later or never.
 */
#ifndef STAGEPROF_PRELOAD_SPARE_FILES_H
#define STAGEPROF_PRELOAD_SPARE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "preload/settings/run_identity.h"
#include "trace/format.h"

/* In the marker's FREE frame, before the notes (trace/format.h). */
#define SP_MARKER_TABLE_AT (SP_RUN_FRAME_BYTES + (unsigned)sizeof(struct sp_frame))

/* A file that is larger is not continued: several threads of the analyzer read several files. */
#define SP_SPARE_FILE_BYTES_MAX (64u << 20)

/* The numbers of a name HOST-PID-START-TID-SEGMENT_CONTINUATION. */
struct sp_spare_name {
	uint64_t image_start_ns;
	uint32_t pid, tid, segment, continuation;
};

struct sp_spare_file {
	struct sp_spare_name name;
	struct sp_inode inode;
	uint64_t end; /* of its last block; a FREE frame follows up to the file's end; 0: not known,
			 a stream may begin at the file's end alone */
};

struct sp_spare_entry {
	uint64_t word; /* state, turn, pid of the process that writes; 0: no file */
	uint32_t pid_namespace, host_hash;
	struct sp_spare_file file;
};

#define SP_SPARE_ENTRIES 957u
struct sp_spare_table {
	uint64_t used; /* no entry from this one on has a file */
	uint64_t reserved[6];
	struct sp_spare_entry entry[SP_SPARE_ENTRIES];
};

/* A process's view of the table. */
struct sp_spare_files {
	struct sp_spare_table *table; /* NULL: none */
	uint32_t pid_namespace, host_hash, pid;
	const char *host; /* in names of files */
};

/* Begins the view of the calling process. `host` outlives it. */
void sp_spare_files_init(struct sp_spare_files *files, struct sp_spare_table *table,
			 const char *host);

/* Takes a file; its `end` is 0 where its writer was killed. Returns its entry's number, from 1, or
 * 0 where there is none. */
uint32_t sp_spare_take(const struct sp_spare_files *files, struct sp_spare_file *ret);

/* Notes a file that the caller made and writes to. Returns its entry's number, or 0. */
uint32_t sp_spare_note(const struct sp_spare_files *files, const struct sp_spare_file *file);

/* The caller writes no more to the file, which another thread may continue. `end` as in struct
 * sp_spare_file. No-op for 0. */
void sp_spare_give(const struct sp_spare_files *files, uint32_t number, uint64_t end);

/* Nobody shall continue the file. No-op for 0. */
void sp_spare_forget(const struct sp_spare_files *files, uint32_t number);

/* After a try that returned `error`, 0 or -errno: gives the file or forgets it. */
void sp_spare_return(const struct sp_spare_files *files, uint32_t number, uint64_t end, int error);

/* The bytes that a file may have at most for the caller to continue it. */
uint64_t sp_spare_most(void);

/* The file's name in the run's directory, without its ".zst". */
void sp_spare_name_text(const char *host, const struct sp_spare_name *name, char *buffer,
			size_t bytes);

#endif
