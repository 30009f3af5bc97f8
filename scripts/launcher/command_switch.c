/* SPDX-License-Identifier: Apache-2.0 */
/* stageprof on RUN, stageprof off RUN: sets the word that the run's processes read: in its marker
 * file, and in its shared memory where it has some. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyzer/text/translate.h"
#include "scripts/launcher/command.h"
#include "trace/format.h"

/* Whom the word reaches. */
struct reach {
	bool lives;	/* a process of the run that follows the word */
	bool is_deaf;	/* processes of this machine: the system gives them no shared memory */
	bool elsewhere; /* processes of another machine or IPC namespace */
};

static uint64_t place_here(void)
{
	struct utsname names;
	struct stat st;
	uint64_t ipc_namespace = 0;

	if (stat("/proc/self/ns/ipc", &st) == 0)
		ipc_namespace = (uint64_t)st.st_ino;
	if (uname(&names) < 0)
		names.nodename[0] = 0;
	return sp_memory_place(names.nodename, strlen(names.nodename), ipc_namespace);
}

/* No-op where the last process that had the memory has ended, or the memory is another's. True
 * where a process has it. */
static bool memory_switch(int id, const struct sp_run_frame *marker, uid_t owner, uint32_t off)
{
	struct sp_run_memory *memory;
	struct shmid_ds ds;
	bool is_of_run;

	if (shmctl(id, IPC_STAT, &ds) < 0 || ds.shm_perm.cuid != owner ||
	    ds.shm_segsz < sizeof(*memory))
		return false;
	memory = shmat(id, NULL, 0);
	if ((intptr_t)memory == -1)
		return false;
	is_of_run = memcmp(memory->tag, SP_TAG_MEMORY, sizeof(memory->tag)) == 0 &&
		    memcmp(memory->run_token, marker->token, sizeof(marker->token)) == 0;
	if (is_of_run)
		__atomic_store_n(&memory->off, off, __ATOMIC_RELAXED);
	shmdt(memory);
	return is_of_run && ds.shm_nattch > 0;
}

/* Follows the notes of the marker. */
static void memories_switch(int fd, const struct sp_run_frame *marker, uid_t owner, uint32_t off,
			    struct reach *ret)
{
	struct sp_memory_note notes[SP_MARKER_NOTES];
	uint64_t here = place_here();

	if (pread(fd, notes, sizeof(notes), SP_MARKER_NOTES_AT) != sizeof(notes))
		return;
	for (size_t i = 0; i < SP_MARKER_NOTES; i++) {
		if (notes[i].place == here && notes[i].id)
			ret->lives |= memory_switch((int)(notes[i].id - 1), marker, owner, off);
		ret->is_deaf |= notes[i].place == here && !notes[i].id;
		ret->elsewhere |= notes[i].place && notes[i].place != here;
	}
}

static bool process_maps(const char *process, const char *name)
{
	char path[64 + NAME_MAX], *line = NULL;
	bool is_found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/maps", process);
	file = fopen(path, "re");
	while (file && !is_found && getline(&line, &room, file) > 0)
		is_found = strstr(line, name) != NULL;
	free(line);
	if (file)
		fclose(file);
	return is_found;
}

/* Processes with STAGEPROF_MODE=map map the marker, whose name no other run has. True also where
 * /proc cannot be read. */
static bool is_mapped(const char *marker)
{
	const char *slash = strrchr(marker, '/');
	DIR *processes = opendir("/proc");
	bool is_found = !processes;
	struct dirent *entry;

	while (processes && !is_found && (entry = readdir(processes)))
		is_found = isdigit((unsigned char)entry->d_name[0]) &&
			   process_maps(entry->d_name, slash ? slash + 1 : marker);
	if (processes)
		closedir(processes);
	return is_found;
}

static int word_write(const char *path, uint32_t off, struct reach *ret)
{
	struct sp_run_frame marker;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), error = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		error = -EINVAL;
	else if (pread(fd, &marker, sizeof(marker), 0) != sizeof(marker) ||
		 memcmp(marker.tag, SP_TAG_RUN, sizeof(marker.tag)) != 0 ||
		 marker.version > SP_FORMAT_VERSION)
		error = -EINVAL;
	else if (pwrite(fd, &off, sizeof(off), offsetof(struct sp_run_frame, off)) != sizeof(off))
		error = -errno;
	else
		memories_switch(fd, &marker, st.st_uid, off, ret);
	close(fd);
	if (!error && !ret->lives && !ret->is_deaf && !ret->elsewhere)
		ret->lives = is_mapped(path);
	return error;
}

static int run_switch(const char *run, uint32_t off, struct reach *ret)
{
	char pattern[4096];
	glob_t found = {.gl_pathc = 0};
	int error = -ENOENT;

	if (snprintf(pattern, sizeof(pattern), "%s/0-run-*.zst", run) >= (int)sizeof(pattern))
		return -ENAMETOOLONG;
	if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
		error = word_write(found.gl_pathv[0], off, ret);
	globfree(&found);
	return error;
}

/* Returns the status. */
static int reach_print(const struct reach *reach, char **argv)
{
	if (!reach->lives && !reach->is_deaf && !reach->elsewhere) {
		fprintf(stderr, _("stageprof %s: %s: no process of this run was found here\n"),
			argv[0], argv[1]);
		return SP_STATUS_FAILED;
	}
	if (reach->is_deaf)
		fprintf(stderr,
			_("stageprof %s: %s: the system gives no shared memory to its processes: "
			  "those "
			  "that have begun go on as before, new ones follow\n"),
			argv[0], argv[1]);
	if (reach->elsewhere)
		fprintf(stderr,
			_("stageprof %s: %s: it has processes on another machine or in another "
			  "container: those that have begun go on as before; give the command "
			  "there, "
			  "too\n"),
			argv[0], argv[1]);
	return SP_STATUS_OK;
}

static int command(int argc, char **argv, uint32_t off)
{
	struct reach reach = {false, false, false};
	int error;

	if (argc != 2 || argv[1][0] == '-') {
		int asked = argc == 2 && strcmp(argv[1], "--help") == 0;

		fprintf(asked ? stdout : stderr, _("Usage: stageprof %s RUN\n"), argv[0]);
		return asked ? SP_STATUS_OK : SP_STATUS_USAGE;
	}
	error = run_switch(argv[1], off, &reach);
	if (!error)
		return reach_print(&reach, argv);
	fprintf(stderr,
		"stageprof %s: %s: %s; give the directory of a run that goes on, as run.zst\n",
		argv[0], argv[1],
		error == -ENOENT ? "it contains no run's marker file" : strerror(-error));
	return SP_STATUS_FAILED;
}

int sp_command_on(int argc, char **argv)
{
	return command(argc, argv, 0);
}

int sp_command_off(int argc, char **argv)
{
	return command(argc, argv, 1);
}
