/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files of stageprof, in the build's folder or in the installation of this program.
 */
#ifndef STAGEPROF_LAUNCHER_INSTALL_H
#define STAGEPROF_LAUNCHER_INSTALL_H

#define SP_PATH_BYTES 4096

/*
 * Writes the absolute path of libstageprof.so into SP_PATH_BYTES: `given` (--library) or, where
 * `given` is NULL, the library beside this program or in its prefix. Returns 0, or the exit status
 * after printing the error.
 */
int sp_install_library(char *ret, const char *given);

/* Writes the absolute path of the library that is installed with this program. 0 or -ENOENT. */
int sp_install_find_library(char *ret);

/* Writes the absolute path of stageprof-report. Returns 0 or -ENOENT. */
int sp_install_report(char *ret);

/* The command word for stageprof-report: its name where PATH leads to it, else its path. NULL where
 * it is neither beside this program nor on PATH, as after an uninstallation during the run. */
const char *sp_install_report_word(char ret[SP_PATH_BYTES]);

/* The same for this program. */
const char *sp_install_own_word(char ret[SP_PATH_BYTES]);

/*
 * Adds the library to LD_PRELOAD in this process's environment and keeps the other entries. The
 * library comes first, but after a sanitizer's runtime, which must be first. Idempotent. Returns 0
 * or -ENOMEM.
 */
int sp_install_preload(const char *library);

#endif
