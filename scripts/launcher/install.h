/*
 * Where the parts of stageprof lie: in the build's folder or the installation that this program is
 * of.
 */
#ifndef STAGEPROF_LAUNCHER_INSTALL_H
#define STAGEPROF_LAUNCHER_INSTALL_H

#define SP_PATH_BYTES 4096

/*
 * The absolute path of libstageprof.so, into SP_PATH_BYTES: `given` (--library) or, where it is
 * NULL, the one beside this program or in its prefix. Returns 0, or the exit status after saying
 * why not.
 */
int sp_install_library(char *ret, const char *given);

/* Likewise stageprof-report. Returns 0 or -ENOENT. */
int sp_install_report(char *ret);

/* How a shell is to call stageprof-report: its name where PATH leads to it, else its path. */
const char *sp_install_report_word(char ret[SP_PATH_BYTES]);

/* LD_PRELOAD in this process's environment: what is there already stays. The library stands first,
 * but behind a sanitizer's runtime, which must. Idempotent. Returns 0 or -ENOMEM. */
int sp_install_preload(const char *library);

#endif
