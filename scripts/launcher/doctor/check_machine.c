/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the machine, the folder and the shell.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "preload/settings/config.h"
#include "preload/settings/run_identity.h"
#include "preload/settings/unwinder.h"
#include "scripts/launcher/doctor/doctor_context.h"
#include "scripts/launcher/marker.h"

#define ROOM_WANTED_BYTES (1ull << 30)
#define FILES_WANTED 256u

static void *open_beside(const struct sp_doctor_context *context)
{
	const char *slash = context->has_library == 0 ? strrchr(context->preload, '/') : NULL;
	char path[SP_PATH_BYTES + sizeof(SP_UNWINDER_BESIDE)];

	if (!slash)
		return NULL;
	snprintf(path, sizeof(path), "%.*s/" SP_UNWINDER_BESIDE, (int)(slash - context->preload),
		 context->preload);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* In the order of the recorder. */
void sp_check_stacks(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	void *beside = open_beside(context);
	void *library = beside ? beside : dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	bool wanted = sp_config.stacks && *sp_config.stacks;

	if (beside)
		sp_check_set(result, SP_CHECK_OK, NULL, "stageprof has its own libunwind");
	else if (library)
		sp_check_set(result, SP_CHECK_OK, NULL, "libunwind.so.8 is installed");
	else
		sp_check_set(result, wanted ? SP_CHECK_WARN : SP_CHECK_SKIP,
			     "install libunwind8 (Debian) or libunwind (others)",
			     "libunwind.so.8 is missing: slow calls get no native stacks");
	if (library)
		dlclose(library);
}

#if !defined(__aarch64__)
static bool cpu_has(const char *flag)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0)
		found = strncmp(line, "flags", 5) == 0 && strstr(line, flag);
	free(line);
	if (file)
		fclose(file);
	return found;
}
#endif

void sp_check_clock(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	(void)context;
#if defined(__aarch64__)
	sp_check_set(result, SP_CHECK_OK, NULL, "the generic timer");
#else
	if (cpu_has(" constant_tsc") && cpu_has(" nonstop_tsc"))
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "the processor's time stamp counter is invariant");
	else
		sp_check_set(result, SP_CHECK_WARN,
			     "nothing to do; on a virtual machine ask for the invtsc feature",
			     "the processor has no invariant time stamp counter: stageprof uses "
			     "CLOCK_MONOTONIC, and each event costs more");
#endif
}

static const struct {
	long magic;
	const char *name;
	bool is_remote;
} systems[] = {
	{NFS_SUPER_MAGIC, "NFS", true},	   {0x0bd00bd0, "Lustre", true},
	{0x47504653, "GPFS", true},	   {CEPH_SUPER_MAGIC, "Ceph", true},
	{SMB2_SUPER_MAGIC, "SMB", true},   {CIFS_SUPER_MAGIC, "CIFS", true},
	{FUSE_SUPER_MAGIC, "FUSE", true},  {V9FS_MAGIC, "9p", true},
	{0x19830326, "BeeGFS", true},	   {EXT4_SUPER_MAGIC, "ext4", false},
	{XFS_SUPER_MAGIC, "xfs", false},   {BTRFS_SUPER_MAGIC, "btrfs", false},
	{TMPFS_MAGIC, "tmpfs", false},	   {OVERLAYFS_SUPER_MAGIC, "overlay", false},
	{F2FS_SUPER_MAGIC, "f2fs", false}, {0x2fc12fc1, "ZFS", false},
};

static const char *output_fix = N_("set STAGEPROF_OUTPUT to a path on a local disk with room");

static void judge_room(struct sp_check_result *result, const char *folder, const struct statfs *fs)
{
	char room[SP_NUMBER_BYTES], name[32];
	unsigned long long bytes =
		(unsigned long long)fs->f_bavail * (unsigned long long)fs->f_bsize;
	bool remote = false;

	snprintf(name, sizeof(name), _("file system 0x%lx"), (unsigned long)fs->f_type);
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (systems[i].magic == (long)fs->f_type) {
			snprintf(name, sizeof(name), "%s", systems[i].name);
			remote = systems[i].is_remote;
		}
	sp_text_bytes(room, bytes);
	if (bytes < ROOM_WANTED_BYTES)
		sp_check_set(result, SP_CHECK_WARN, output_fix, "%s: only %s left (%s)", folder,
			     room, name);
	else if (remote)
		sp_check_set(result, SP_CHECK_WARN, output_fix,
			     "%s is on %s: each trace file costs round trips to a server", folder,
			     name);
	else
		sp_check_set(result, SP_CHECK_OK, NULL, "%s: %s left (%s)", folder, room, name);
}

void sp_check_output(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	char folder[SP_RUN_PATH_BYTES];
	struct statfs fs;
	int r;

	(void)context;
	if (sp_run_init() < 0) {
		sp_check_set(result, SP_CHECK_FAIL, "set STAGEPROF_OUTPUT to an absolute path",
			     "the name of the run's folder cannot be made absolute");
		return;
	}
	strcpy(folder, sp_run.base);
	strrchr(folder, '/')[folder == strrchr(folder, '/')] = '\0';
	r = sp_marker_try(folder);
	if (r < 0)
		sp_check_set(result, SP_CHECK_FAIL, output_fix, "%s: %s", folder,
			     sp_translate_errno(-r));
	else if (statfs(folder, &fs) < 0)
		sp_check_set(result, SP_CHECK_SKIP, NULL, "%s: %s", folder,
			     sp_translate_errno(errno));
	else
		judge_room(result, folder, &fs);
}

void sp_check_limits(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	struct rlimit size = {0}, files = {0}, memory = {0}, locked = {0};

	(void)context;
	getrlimit(RLIMIT_FSIZE, &size);
	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_AS, &memory);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	if (size.rlim_cur != RLIM_INFINITY && size.rlim_cur < ROOM_WANTED_BYTES)
		sp_check_set(result, SP_CHECK_WARN, "ulimit -f unlimited",
			     "files have at most %llu bytes: recording of a thread ends there",
			     (unsigned long long)size.rlim_cur);
	else if (files.rlim_cur < FILES_WANTED)
		sp_check_set(result, SP_CHECK_WARN, "ulimit -n 4096",
			     "the limit of descriptors is %llu: the trainer may run out of them",
			     (unsigned long long)files.rlim_cur);
	else if (memory.rlim_cur != RLIM_INFINITY && memory.rlim_cur < ROOM_WANTED_BYTES)
		sp_check_set(result, SP_CHECK_WARN, "ulimit -v unlimited",
			     "the limit of address space is %llu bytes",
			     (unsigned long long)memory.rlim_cur);
	else
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "file size and address space %s, %llu descriptors, locked memory %s "
			     "(not needed)",
			     size.rlim_cur == RLIM_INFINITY && memory.rlim_cur == RLIM_INFINITY
				     ? _("unlimited")
				     : _("large"),
			     (unsigned long long)files.rlim_cur,
			     locked.rlim_cur == RLIM_INFINITY ? _("unlimited") : _("limited"));
}

void sp_check_seccomp(const struct sp_doctor_context *context, struct sp_check_result *result)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	int mode = -1;

	(void)context;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (file)
		fclose(file);
	if (mode == 0)
		sp_check_set(result, SP_CHECK_OK, NULL, "none");
	else if (mode < 0)
		sp_check_set(result, SP_CHECK_SKIP, NULL, "the kernel does not report it");
	else
		sp_check_set(result, SP_CHECK_OK, NULL,
			     "a filter is set, as in containers; the child above ran under it");
}
