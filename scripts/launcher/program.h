/*
 * What a command is, as far as it decides whether a preload reaches it. Nothing is run.
 */
#ifndef STAGEPROF_LAUNCHER_PROGRAM_H
#define STAGEPROF_LAUNCHER_PROGRAM_H

#include <stdbool.h>
#include <limits.h>

enum sp_reach {
	SP_REACH_LOADED,	/* a program of glibc, of this machine */
	SP_REACH_STATIC,	/* no dynamic linker */
	SP_REACH_PRIVILEGED,	/* setuid, setgid or capabilities: ld.so drops the preload */
	SP_REACH_OTHER_LIBC,	/* another dynamic linker: musl, say */
	SP_REACH_OTHER_MACHINE, /* 32 bits, or another processor's */
	SP_REACH_UNKNOWN,	/* not ELF, or unreadable */
};

struct sp_program {
	char path[PATH_MAX];   /* of the ELF file that the kernel starts, a script's interpreter */
	char loader[PATH_MAX]; /* its dynamic linker; "" where there is none */
	char via[PATH_MAX];    /* the script that named it; "" where it is no script */
	enum sp_reach reach;
	bool is_dormant; /* preload/dormant.def: it passes the run on and records nothing */
	bool is_python;
};

/* Where a word leads, as execvp(3) looks it up. Returns 0, -ENOENT, or -EACCES. */
int sp_program_on_path(char ret[PATH_MAX], const char *word);

/* Returns 0 with everything told, or what sp_program_on_path() said. */
int sp_program_look(struct sp_program *ret, const char *word);

/* Why the preload does not reach it, and what to do; NULL where it does. */
const char *sp_program_why_not(const struct sp_program *program);
const char *sp_program_fix(const struct sp_program *program);

#endif
