/*
 * What this machine, folder and shell allow.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "analyzer/text.h"
#include "analyzer/translate.h"
#include "preload/config.h"
#include "preload/run.h"
#include "scripts/launcher/patient.h"

#define ROOM_WANTED_BYTES (1ull << 30)
#define FILES_WANTED 256u

void sp_check_stacks(const struct sp_patient *p, struct sp_finding *f)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	bool wanted = sp_config.stacks && *sp_config.stacks;

	(void)p;
	if (library)
		sp_find(f, SP_VERDICT_OK, NULL, "libunwind.so.8 is there");
	else
		sp_find(f, wanted ? SP_VERDICT_WARN : SP_VERDICT_SKIP,
			"install libunwind8 (Debian) or libunwind (others)",
			"no libunwind.so.8: no native stacks of slow calls");
	if (library)
		dlclose(library);
}

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

void sp_check_clock(const struct sp_patient *p, struct sp_finding *f)
{
	(void)p;
#if defined(__aarch64__)
	sp_find(f, SP_VERDICT_OK, NULL, "the generic timer");
#else
	if (cpu_has(" constant_tsc") && cpu_has(" nonstop_tsc"))
		sp_find(f, SP_VERDICT_OK, NULL, "the processor's time stamp counter is invariant");
	else
		sp_find(f, SP_VERDICT_WARN,
			"nothing to do; on a virtual machine ask for invtsc to be passed on",
			"no invariant time stamp counter: CLOCK_MONOTONIC serves, and each event "
			"costs more");
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

/* A file is made there for real: rights, quotas and read-only mounts have many faces. */
static int try_file(const char *folder)
{
	char path[SP_RUN_PATH_BYTES + 32];
	int fd, r;

	snprintf(path, sizeof(path), "%s/.stageprof-doctor-XXXXXX", folder);
	fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	r = posix_fallocate(fd, 0, 65536);
	close(fd);
	unlink(path);
	return -r;
}

static const char *output_fix = N_("set STAGEPROF_OUTPUT to a path on a local disk with room");

static void judge_room(struct sp_finding *f, const char *folder, const struct statfs *fs)
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
		sp_find(f, SP_VERDICT_WARN, output_fix, "%s: only %s left (%s)", folder, room,
			name);
	else if (remote)
		sp_find(f, SP_VERDICT_WARN, output_fix,
			"%s is on %s: each trace file costs round trips, and a kill may lose the "
			"last events",
			folder, name);
	else
		sp_find(f, SP_VERDICT_OK, NULL, "%s: %s left (%s)", folder, room, name);
}

void sp_check_output(const struct sp_patient *p, struct sp_finding *f)
{
	char folder[SP_RUN_PATH_BYTES];
	struct statfs fs;
	int r;

	(void)p;
	if (sp_run_init() < 0) {
		sp_find(f, SP_VERDICT_FAIL, "set STAGEPROF_OUTPUT to an absolute path",
			"the run's folder has no name");
		return;
	}
	strcpy(folder, sp_run.base);
	strrchr(folder, '/')[folder == strrchr(folder, '/')] = '\0';
	r = try_file(folder);
	if (r == -EOPNOTSUPP)
		sp_find(f, SP_VERDICT_WARN, output_fix,
			"%s cannot reserve space: a weaker mode takes over", folder);
	else if (r < 0)
		sp_find(f, SP_VERDICT_FAIL, output_fix, "%s: %s", folder, sp_translate_errno(-r));
	else if (statfs(folder, &fs) < 0)
		sp_find(f, SP_VERDICT_SKIP, NULL, "%s: %s", folder, sp_translate_errno(errno));
	else
		judge_room(f, folder, &fs);
}

void sp_check_limits(const struct sp_patient *p, struct sp_finding *f)
{
	struct rlimit size = {0}, files = {0}, memory = {0}, locked = {0};

	(void)p;
	getrlimit(RLIMIT_FSIZE, &size);
	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_AS, &memory);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	if (size.rlim_cur != RLIM_INFINITY && size.rlim_cur < ROOM_WANTED_BYTES)
		sp_find(f, SP_VERDICT_WARN, "ulimit -f unlimited",
			"files may have %llu bytes at most: recording of a thread ends there",
			(unsigned long long)size.rlim_cur);
	else if (files.rlim_cur < FILES_WANTED)
		sp_find(f, SP_VERDICT_WARN, "ulimit -n 4096",
			"%llu descriptors at most: the trainer may run out of them",
			(unsigned long long)files.rlim_cur);
	else if (memory.rlim_cur != RLIM_INFINITY && memory.rlim_cur < ROOM_WANTED_BYTES)
		sp_find(f, SP_VERDICT_WARN, "ulimit -v unlimited",
			"%llu bytes of address space at most", (unsigned long long)memory.rlim_cur);
	else
		sp_find(f, SP_VERDICT_OK, NULL,
			"file size and address space %s, %llu descriptors, locked memory %s (not "
			"needed)",
			size.rlim_cur == RLIM_INFINITY && memory.rlim_cur == RLIM_INFINITY
				? _("unlimited")
				: _("large"),
			(unsigned long long)files.rlim_cur,
			locked.rlim_cur == RLIM_INFINITY ? _("unlimited") : _("limited"));
}

void sp_check_seccomp(const struct sp_patient *p, struct sp_finding *f)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	int mode = -1;

	(void)p;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (file)
		fclose(file);
	if (mode == 0)
		sp_find(f, SP_VERDICT_OK, NULL, "none");
	else if (mode < 0)
		sp_find(f, SP_VERDICT_SKIP, NULL, "the kernel does not tell");
	else
		sp_find(f, SP_VERDICT_OK, NULL,
			"a filter is set, as containers have it; the child above ran under it");
}
