/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/cgroups.h"

#include <string.h>

#include "preload/sys/paths.h"

#define PATH_BYTES 1024u
#define V2 "/sys/fs/cgroup" /* and a controller of version 1 is a folder in it */

void sp_cgroup_read(const struct sp_cgroup *group, const char *file, char ret[SP_PROCFS_BYTES])
{
	char name[PATH_BYTES];
	struct sp_text path = sp_text_init(name, sizeof(name));

	sp_text_add(&path, group->mount);
	sp_text_add(&path, group->path);
	sp_text_add(&path, "/");
	sp_text_add(&path, file);
	sp_procfs_read(name, ret);
}

uint64_t sp_cgroup_value(const char *text, const char *key)
{
	size_t bytes = strlen(key);

	for (const char *at = text; (at = strstr(at, key)) != NULL; at += bytes) {
		const char *p = at + bytes;

		if (at == text || at[-1] == '\n' || *key == ' ')
			return sp_procfs_number(&p);
	}
	return UINT64_MAX;
}

uint64_t sp_cgroup_files_cached(const char *text, int is_v2, uint64_t most)
{
	uint64_t files = sp_cgroup_value(text, is_v2 ? "file " : "cache ");
	uint64_t shared = sp_cgroup_value(text, "shmem ");

	if (files == UINT64_MAX)
		return 0;
	if (shared != UINT64_MAX)
		files -= shared < files ? shared : files;
	return files < most ? files : most;
}

/* Returns the path in a line of /proc/self/cgroup, "4:cpu,cpuacct:/path", if the line is the
 * controller's; else NULL. */
static char *group_of(char *line, const char *controller, int *ret_v2)
{
	char *controllers = strchr(line, ':'),
	     *group = controllers ? strchr(controllers + 1, ':') : NULL;
	size_t bytes = strlen(controller);

	if (!group)
		return NULL;
	*group++ = 0;
	controllers++;
	*ret_v2 = !*controllers;
	for (char *p = controllers; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == bytes && memcmp(p, controller, bytes) == 0)
			return group;
	return *ret_v2 ? group : NULL;
}

static void visit_upwards(struct sp_cgroup group, char *path,
			  void (*visit)(const struct sp_cgroup *, void *), void *argument)
{
	if (strcmp(path, "/") == 0)
		*path = 0;
	for (;;) {
		char *slash = strrchr(path, '/');

		visit(&group, argument);
		if (!slash)
			return;
		*slash = 0;
	}
}

void sp_cgroups_visit(const char *controller, void (*visit)(const struct sp_cgroup *, void *),
		      void *argument)
{
	char text[SP_PROCFS_BYTES], folder[64];
	struct sp_text mount = sp_text_init(folder, sizeof(folder));
	char *line = text;

	sp_text_add(&mount, V2 "/");
	sp_text_add(&mount, controller);
	sp_procfs_read("/proc/self/cgroup", text);
	while (*line) {
		char *end = line + strcspn(line, "\n");
		char *next = end + (*end == '\n'), *path;
		int is_v2;

		*end = 0;
		path = group_of(line, controller, &is_v2);
		if (path)
			visit_upwards((struct sp_cgroup){is_v2 ? V2 : folder, path, is_v2}, path,
				      visit, argument);
		line = next;
	}
}
