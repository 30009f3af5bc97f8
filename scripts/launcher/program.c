/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/launcher/program.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "preload/settings/dormant.h"

#define SCRIPTS_MAX 4 /* the kernel follows this many scripts as interpreters */

static int try_path(char ret[PATH_MAX], const char *folder, size_t bytes, const char *word)
{
	struct stat st;
	int n = snprintf(ret, PATH_MAX, "%.*s%s%s", (int)bytes, folder, bytes ? "/" : "", word);

	if (n >= PATH_MAX || stat(ret, &st) < 0)
		return -ENOENT;
	return S_ISREG(st.st_mode) && access(ret, X_OK) == 0 ? 0 : -EACCES;
}

int sp_program_on_path(char ret[PATH_MAX], const char *word)
{
	const char *path = getenv("PATH");
	int r = -ENOENT;

	if (!*word)
		return -ENOENT;
	if (strchr(word, '/'))
		return try_path(ret, "", 0, word);
	for (path = path ? path : "/bin:/usr/bin"; path; path = strchr(path, ':')) {
		size_t bytes;
		int tried;

		path += *path == ':';
		bytes = strcspn(path, ":");
		tried = bytes ? try_path(ret, path, bytes, word) : try_path(ret, ".", 1, word);
		if (tried == 0)
			return 0;
		r = tried == -EACCES ? tried : r;
	}
	return r;
}

/* "#!/usr/bin/env python3" is python3. Returns 0 with `word`, or -ENOEXEC where it is no script. */
static int read_interpreter(const char *path, char word[PATH_MAX])
{
	char line[PATH_MAX] = "", *save, *first, *second;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return -ENOEXEC;
	line[strcspn(line, "\n")] = '\0';
	first = strtok_r(line + 2, " \t", &save);
	second = first ? strtok_r(NULL, " \t", &save) : NULL;
	if (!first)
		return -ENOEXEC;
	if (second && strcmp(strrchr(first, '/') ? strrchr(first, '/') : first, "/env") == 0 &&
	    *second != '-')
		first = second;
	strcpy(word, first);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* python, python3, python3.11, python3.13t */
static bool is_python(const char *path)
{
	return strncmp(base_name(path), "python", 6) == 0 &&
	       strspn(base_name(path) + 6, ".0123456789td") == strlen(base_name(path) + 6);
}

/* ld.so ignores LD_PRELOAD where the program has rights that its caller lacks. */
static bool is_privileged(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
	       ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static void read_loader(struct sp_program *program, Elf *elf, int fd)
{
	size_t headers = 0;

	elf_getphdrnum(elf, &headers);
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr header;
		ssize_t n;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP ||
		    header.p_filesz >= sizeof(program->loader))
			continue;
		n = pread(fd, program->loader, header.p_filesz, (off_t)header.p_offset);
		program->loader[n > 0 ? n : 0] = '\0';
	}
}

static enum sp_reach judge(const struct sp_program *program, const GElf_Ehdr *header)
{
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != SP_ELF_MACHINE)
		return SP_REACH_OTHER_MACHINE;
	if (!program->loader[0])
		return SP_REACH_STATIC;
	if (is_privileged(program->path))
		return SP_REACH_PRIVILEGED;
	return strncmp(base_name(program->loader), "ld-linux", 8) == 0 ? SP_REACH_LOADED
								       : SP_REACH_OTHER_LIBC;
}

static void read_elf(struct sp_program *program)
{
	int fd = open(program->path, O_RDONLY | O_CLOEXEC);
	Elf *elf = NULL;
	GElf_Ehdr header;

	program->reach = SP_REACH_UNKNOWN;
	elf_version(EV_CURRENT);
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
		read_loader(program, elf, fd);
		program->reach = judge(program, &header);
	} else if (is_privileged(program->path)) {
		program->reach = SP_REACH_PRIVILEGED; /* and perhaps not readable */
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
}

int sp_program_look(struct sp_program *ret, const char *word)
{
	char next[PATH_MAX];
	int r;

	*ret = (struct sp_program){.reach = SP_REACH_UNKNOWN};
	r = sp_program_on_path(ret->path, word);
	for (int i = 0; r == 0 && i < SCRIPTS_MAX && read_interpreter(ret->path, next) == 0; i++) {
		if (!ret->via[0])
			strcpy(ret->via, ret->path);
		r = sp_program_on_path(ret->path, next);
	}
	if (r < 0)
		return r;
	read_elf(ret);
	ret->is_dormant = sp_dormant_is(base_name(ret->path));
	ret->is_python = is_python(ret->path) || is_python(ret->via);
	return 0;
}

const char *sp_program_why_not(const struct sp_program *program)
{
	switch (program->reach) {
	case SP_REACH_STATIC:
		return N_("it is statically linked: no dynamic linker reads LD_PRELOAD");
	case SP_REACH_PRIVILEGED:
		return N_("it is setuid, setgid or has capabilities: the dynamic linker drops "
			  "LD_PRELOAD");
	case SP_REACH_OTHER_LIBC:
		return N_("it uses another libc than glibc (such as musl)");
	case SP_REACH_OTHER_MACHINE:
		return N_("it is a 32-bit program, or a program for another processor");
	case SP_REACH_LOADED:
	case SP_REACH_UNKNOWN:
		break;
	}
	return NULL;
}

const char *sp_program_fix(const struct sp_program *program)
{
	switch (program->reach) {
	case SP_REACH_STATIC:
		return N_("link it dynamically, or profile the program that it starts");
	case SP_REACH_PRIVILEGED:
		return N_("run a copy without these rights, as the user that it would become");
	case SP_REACH_OTHER_LIBC:
		return N_("use an interpreter built for glibc (Debian's, or python.org's manylinux "
			  "wheels)");
	case SP_REACH_OTHER_MACHINE:
		return N_("use its 64-bit build");
	case SP_REACH_LOADED:
	case SP_REACH_UNKNOWN:
		break;
	}
	return NULL;
}

static bool is_script_of_python(const char *word)
{
	char path[PATH_MAX];
	size_t n = strlen(word);

	return n > 3 && strcmp(word + n - 3, ".py") == 0 && access(word, R_OK) == 0 &&
	       sp_program_on_path(path, word) < 0;
}

char **sp_program_with_python(char **command)
{
	char path[PATH_MAX];
	size_t n = 0;
	char **words;

	if (!is_script_of_python(command[0]))
		return command;
	while (command[n])
		n++;
	words = calloc(n + 2, sizeof(*words));
	if (!words)
		return command;
	words[0] = (char *)(sp_program_on_path(path, "python3") == 0 ? "python3" : "python");
	memcpy(words + 1, command, n * sizeof(*words));
	return words;
}
