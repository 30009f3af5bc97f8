/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of a command that decide if a preload reaches it. Nothing is run.
 */
#ifndef STAGEPROF_LAUNCHER_PROGRAM_H
#define STAGEPROF_LAUNCHER_PROGRAM_H

#include <stdbool.h>
#include <limits.h>

enum sp_reach {
	SP_REACH_LOADED,	/* a program of glibc for this machine */
	SP_REACH_STATIC,	/* no dynamic linker */
	SP_REACH_PRIVILEGED,	/* setuid, setgid or capabilities: ld.so drops the preload */
	SP_REACH_OTHER_LIBC,	/* another dynamic linker: musl, say */
	SP_REACH_OTHER_MACHINE, /* a 32-bit program, or a program for another processor */
	SP_REACH_UNKNOWN,	/* not ELF, or unreadable */
};

struct sp_program {
	char path[PATH_MAX];   /* of the ELF file that the kernel starts: a script's interpreter */
	char loader[PATH_MAX]; /* its dynamic linker; "" where there is none */
	char via[PATH_MAX];    /* the script that named the interpreter; "" without a script */
	enum sp_reach reach;
	bool is_dormant; /* preload/settings/dormant.def:
			    it passes the run on and records nothing */
	bool is_python;
};

/* Finds the file of a command word, as execvp(3) does. Returns 0, -ENOENT, or -EACCES. */
int sp_program_on_path(char ret[PATH_MAX], const char *word);

/* Puts python3 before a command such as "train.py", a readable file that is no program of its own.
 * Returns a list that is never freed, or the command itself: another program, or memory is out. */
char **sp_program_with_python(char **command);

/* Returns 0 and fills `ret`, or the error of sp_program_on_path(). */
int sp_program_look(struct sp_program *ret, const char *word);

/* The reason why the preload does not reach the program, and the fix; NULL where it does. */
const char *sp_program_why_not(const struct sp_program *program);
const char *sp_program_fix(const struct sp_program *program);

#endif
