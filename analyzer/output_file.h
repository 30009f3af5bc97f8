/*
 * The file that -o names, which is there whole or not at all: what is written goes to a new file beside it,
 * which takes its name when all of it is on its way to the disk.
 *
 * One at a time: SIGINT, SIGTERM, SIGHUP, SIGPIPE and SIGXFSZ remove the unfinished file and then do what they
 * would have done. SIGKILL leaves it, as NAME.PID.part.
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
};

/*
 * path: NULL or "-" is stdout. A regular file that exists is replaced where is_forced, and only at the end.
 * Returns 0 or -errno: -EEXIST where there is a file and is_forced is false, -EISDIR for a directory.
 */
int sp_output_file_open(struct sp_output_file *f, const char *path, bool is_forced);

/*
 * Closes the file and gives it its name. Returns 0 or -errno, and then there is nothing left of it: -EEXIST
 * where another file took the name meanwhile.
 */
int sp_output_file_keep(struct sp_output_file *f);

/* Closes and removes what was written; after sp_output_file_keep() it does nothing. */
void sp_output_file_drop(struct sp_output_file *f);

#endif
