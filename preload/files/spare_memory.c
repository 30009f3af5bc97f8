/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/files/spare_memory.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "preload/files/run_file.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"
#include "trace/arenas/arena_layout.h"
#include "trace/format.h"

struct spare_memory {
	struct sp_run_memory run;
	struct sp_spare_table table;
};

/* As of an arena: a process that is killed before the memory is removed leaves zeros, which those
 * who collect arenas free. */
static size_t memory_bytes(void)
{
	const size_t units = (sizeof(struct spare_memory) - 1) / SP_ARENA_UNIT_BYTES + 1;

	return sp_arena_segment_bytes((uint32_t)units, sp_run.token);
}

static uint64_t place_here(void)
{
	uint64_t ipc_namespace = 0;
	struct utsname names;
	struct stat st;

	if (SP_SYS4(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/ipc", &st, 0) == 0)
		ipc_namespace = (uint64_t)st.st_ino;
	if (SP_SYS1(SYS_uname, &names) < 0)
		names.nodename[0] = 0;
	return sp_memory_place(names.nodename, strnlen(names.nodename, sizeof(names.nodename)),
			       ipc_namespace);
}

/* cuid cannot be changed, so another user's memory cannot pass for ours. */
static int is_own(int id)
{
	uint32_t uid = (uint32_t)SP_SYS1(SYS_geteuid, 0);
	struct shmid_ds ds;

	return SP_SYS3(SYS_shmctl, id, IPC_STAT, &ds) == 0 && ds.shm_perm.cuid == uid &&
	       ds.shm_perm.uid == uid && (ds.shm_perm.mode & 0777) == 0600 &&
	       ds.shm_segsz == memory_bytes();
}

static int is_of_run(const struct sp_run_memory *m)
{
	return memcmp(m->tag, SP_TAG_MEMORY, sizeof(m->tag)) == 0 &&
	       m->run_token[0] == sp_run.token[0] && m->run_token[1] == sp_run.token[1];
}

static struct spare_memory *memory_attach(int id)
{
	long at = is_own(id) ? SP_SYS3(SYS_shmat, id, 0, 0) : -1;

	if (sp_sys_failed(at))
		return NULL;
	if (is_of_run(&((struct spare_memory *)at)->run))
		return (struct spare_memory *)at;
	SP_SYS1(SYS_shmdt, at);
	return NULL;
}

/* Removed at once: it stays for those that have it, and for those that attach it by its id. */
static struct spare_memory *memory_make(uint32_t off, int *ret_id)
{
	long id = SP_SYS3(SYS_shmget, IPC_PRIVATE, memory_bytes(), IPC_CREAT | 0600);
	long at = id < 0 ? id : SP_SYS3(SYS_shmat, id, 0, 0);
	struct spare_memory *m;

	if (id >= 0)
		SP_SYS3(SYS_shmctl, id, IPC_RMID, 0);
	*ret_id = sp_sys_failed(at) ? -1 : (int)id;
	if (sp_sys_failed(at))
		at = sp_pages_of_file(sizeof(*m), MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sp_sys_failed(at))
		return NULL;
	m = (struct spare_memory *)at;
	m->run.run_token[0] = sp_run.token[0];
	m->run.run_token[1] = sp_run.token[1];
	m->run.off = off;
	memcpy(m->run.tag, SP_TAG_MEMORY, sizeof(m->run.tag));
	return m;
}

struct sp_spare_table *sp_spare_memory_join(long marker_fd, uint32_t **ret_off)
{
	const uint64_t place = place_here(), at = sp_memory_note_at(place);
	const long off_at = (long)offsetof(struct sp_run_frame, off);
	struct spare_memory *m = NULL;
	struct sp_memory_note note;
	uint32_t off = 0;
	int id;

	if (SP_SYS4(SYS_pread64, marker_fd, &note, sizeof(note), at) == sizeof(note) && note.id &&
	    note.place == place)
		m = memory_attach((int)(note.id - 1));
	if (!m) {
		SP_SYS4(SYS_pread64, marker_fd, &off, sizeof(off), off_at);
		m = memory_make(off, &id);
		if (!m)
			return NULL;
		note = (struct sp_memory_note){place, (uint64_t)id + 1};
		if (sp_run_file_fits(at + sizeof(note)))
			SP_SYS4(SYS_pwrite64, marker_fd, &note, sizeof(note), at);
	}
	*ret_off = &m->run.off;
	return &m->table;
}
