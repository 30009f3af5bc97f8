/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of -o, which is written whole or not at all: the output goes to a new file in the same
 * folder, which is renamed after all of it was written and synced.
 *
 * One at a time: SIGINT, SIGTERM, SIGHUP, SIGPIPE and SIGXFSZ remove the unfinished file and then
 * have their default effect. SIGKILL leaves it, as NAME.PID.part.
 */
#ifndef STAGEPROF_ANALYZER_OUTPUT_FILE_H
#define STAGEPROF_ANALYZER_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sp_output_file {
	FILE *file;
	char *path;	 /* owned; NULL: stdout */
	char *part_path; /* owned; NULL: written in place (stdout, a device, a pipe) */
	bool is_forced;
	bool is_folder;
};

/*
 * path: NULL or "-" is stdout. With is_forced an existing regular file is replaced, at the end
 * only. Returns 0 or -errno: -EEXIST where a file exists and is_forced is false, -EISDIR for a
 * directory.
 */
int sp_output_file_open(struct sp_output_file *f, const char *path, bool is_forced);

/*
 * A folder that is written whole or not at all: part_path is the unfinished one, and `file` takes
 * nothing. A signal leaves NAME.PID.part. Returns 0 or -errno: -EEXIST where anything has the name.
 */
int sp_output_folder_open(struct sp_output_file *f, const char *path);

/*
 * Closes the file and gives it its name. Returns 0, or -errno after removing it: -EEXIST where
 * another file took the name meanwhile.
 */
int sp_output_file_keep(struct sp_output_file *f);

/* Closes and removes the unfinished file. Does nothing after sp_output_file_keep(). */
void sp_output_file_drop(struct sp_output_file *f);

#endif
