/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a libstageprof.so, read without loading it.
 */
#ifndef STAGEPROF_LAUNCHER_LIBRARY_H
#define STAGEPROF_LAUNCHER_LIBRARY_H

#include <stdbool.h>

struct sp_library_file {
	bool is_elf;
	bool is_of_this_machine;
	char version[16]; /* "" where the file names none */
};

void sp_library_look(struct sp_library_file *ret, const char *path);

/*
 * True where a program can be started with this library. Else one line on stderr has said why not.
 * A library of another version than this program's is used, and one line says so.
 */
bool sp_library_is_usable(const char *path);

#endif
