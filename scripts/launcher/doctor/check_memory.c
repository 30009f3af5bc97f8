/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of the shared memory in which the last events of a killed process stay
 * (trace/arenas/arena_layout.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "preload/settings/config.h"
#include "scripts/launcher/doctor/doctor_context.h"
#include "scripts/launcher/left_memory.h"
#include "trace/arenas/arena_layout.h"

/* The kernel's first IPC namespace has this inode. */
#define INODE_OF_HOST 0xEFFFFFFFu
/* systemd leaves the memory of system users alone. */
#define FIRST_USER 1000u

/* Returns 0, or -errno. */
static int try_memory(void)
{
	int id = shmget(IPC_PRIVATE, sp_arena_bytes(1), IPC_CREAT | 0600), r = 0;
	void *at;

	if (id < 0)
		return -errno;
	at = shmat(id, NULL, 0);
	if ((intptr_t)at == -1)
		r = -errno;
	else
		shmdt(at);
	shmctl(id, IPC_RMID, NULL);
	return r;
}

static bool is_removed_at_once(void)
{
	FILE *file = fopen("/proc/sys/kernel/shm_rmid_forced", "r");
	int is_forced = 0;

	if (!file)
		return false;
	if (fscanf(file, "%d", &is_forced) != 1)
		is_forced = 0;
	fclose(file);
	return is_forced != 0;
}

static bool has_own_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/ipc", &st) == 0 && st.st_ino != INODE_OF_HOST;
}

void sp_check_memory(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	int r = try_memory();

	(void)context;
	if (sp_config_is(sp_config.mode, "map"))
		sp_check_set(result, SP_CHECK_SKIP, NULL,
			     "STAGEPROF_MODE=map: on ext2, ext3, ext4 and tmpfs files are mapped");
	else if (r < 0)
		sp_check_set(result, SP_CHECK_WARN,
			     "sysctl kernel.shmmni=4096, or STAGEPROF_MODE=map",
			     "the system gives none: a kill loses the last events (%s)",
			     sp_translate_errno(-r));
	else if (is_removed_at_once())
		sp_check_set(result, SP_CHECK_WARN,
			     "sysctl kernel.shm_rmid_forced=0, or STAGEPROF_MODE=map",
			     "kernel.shm_rmid_forced is set: a kill loses the last events");
	else if (has_own_namespace())
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "the last events stay after a kill, until this container ends");
	else if (getuid() >= FIRST_USER && access("/run/systemd/system", F_OK) == 0)
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "a kill keeps the last events for a report on this machine, until "
			     "this "
			     "user has logged out (systemd's RemoveIPC)");
	else
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "a kill keeps the last events for a report on this machine");
}

/* The next run frees more than a few. */
#define LEFT_MANY 64u

void sp_check_left(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	struct sp_left_memory *left = malloc(sizeof(*left));
	char size[SP_NUMBER_BYTES];

	(void)context;
	if (!left)
		return;
	sp_left_memory_list(left);
	if (!left->count)
		sp_check_set(result, SP_CHECK_OK, NULL, "none");
	else
		sp_check_set(result, left->segments > LEFT_MANY ? SP_CHECK_WARN : SP_CHECK_OK, NULL,
			     "segments: %u, %s; runs: %u, such as %s: stageprof clean frees them",
			     left->segments, sp_text_bytes(size, left->bytes), left->count,
			     left->runs[0].directory);
	free(left);
}
