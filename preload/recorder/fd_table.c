/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/fd_table.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/recorder/emit.h"
#include "preload/recorder/own_stack.h"
#include "preload/sys/host_memory.h"
#include "preload/sys/memory.h"
#include "preload/sys/paths.h"
#include "preload/sys/freeze.h"
#include "preload/recorder/intern.h"
#include "preload/recorder/socket_peer.h"
#include "preload/recorder/unobserved_exec.h"
#include "preload/settings/redact.h"
#include "preload/sys/sys.h"

#define FAR_ENTRIES 1024u
#define LINK_BYTES 4096u
#define TMPFS_MAGIC 0x01021994u
#define MEMORY_FILES 1024u

/* Ids of files on tmpfs, by their last bits: a later one may take the place of an earlier one. */
static uint32_t memory_files[MEMORY_FILES];

/* The table of descriptors [1024 n, 1024 n + 1024), made at first use. A thread that loses the race
 * to make it unmaps its own copy. */
static uint32_t *far_table(unsigned n, int make)
{
	uint32_t **place = &sp_process->fd_far[n];
	uint32_t *table = __atomic_load_n(place, __ATOMIC_ACQUIRE), *made;

	if (table || !make || sp_process_is_frozen())
		return table;
	made = sp_pages_make(FAR_ENTRIES * sizeof(uint32_t));
	if (!made ||
	    __atomic_compare_exchange_n(place, &table, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	sp_pages_free(made, FAR_ENTRIES * sizeof(uint32_t));
	return table;
}

static uint32_t *entry_of(int fd, int make)
{
	unsigned n = (unsigned)fd;
	uint32_t *table;

	if (n < SP_FD_NEAR)
		return &sp_fd_near_table[n];
	if (n / FAR_ENTRIES >= SP_FD_FAR_TABLES)
		return NULL;
	table = far_table(n / FAR_ENTRIES, make);
	return table ? &table[n % FAR_ENTRIES] : NULL;
}

uint32_t sp_fd_file_known(int fd)
{
	uint32_t *entry = entry_of(fd, 0);

	return entry ? __atomic_load_n(entry, __ATOMIC_RELAXED) : 0;
}

void sp_fd_unregister(int fd)
{
	uint32_t *entry = entry_of(fd, 0);

	if (entry)
		__atomic_store_n(entry, 0, __ATOMIC_RELAXED);
}

void sp_fd_unregister_range(unsigned first, unsigned last)
{
	unsigned end = FAR_ENTRIES * SP_FD_FAR_TABLES;

	for (unsigned fd = first; fd <= last && fd < end; fd++) {
		if (fd >= SP_FD_NEAR && fd % FAR_ENTRIES == 0 && !far_table(fd / FAR_ENTRIES, 0)) {
			fd += FAR_ENTRIES - 1;
			continue;
		}
		sp_fd_unregister((int)fd);
	}
}

void sp_fd_copy(int from, int to)
{
	uint32_t file = sp_fd_file_known(from);
	uint32_t *entry = entry_of(to, file != 0);

	if (entry)
		__atomic_store_n(entry, file, __ATOMIC_RELAXED);
}

static int starts_with(const char *path, const char *prefix)
{
	return strncmp(path, prefix, strlen(prefix)) == 0;
}

static enum sp_file_type type_of(uint32_t mode, const char *path)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		if (starts_with(path, "/proc/") || starts_with(path, "/sys/"))
			return SP_FILE_PSEUDO;
		return starts_with(path, "/memfd:") ? SP_FILE_ANON : SP_FILE_REGULAR;
	case S_IFDIR:
		return SP_FILE_DIRECTORY;
	case S_IFIFO:
		return SP_FILE_PIPE;
	case S_IFSOCK:
		return sp_peer_is_net(path) ? SP_FILE_NET : SP_FILE_SOCKET;
	case S_IFCHR:
		return SP_FILE_CHARACTER;
	case S_IFBLK:
		return SP_FILE_BLOCK;
	default:
		return SP_FILE_ANON; /* anon_inode: eventfd, epoll, … have no type */
	}
}

static size_t link_read(int fd, char *path)
{
	char link[40];
	struct sp_text text = sp_text_init(link, sizeof(link));
	long length;

	/* Not /proc/self: that is main's thread, which may have ended by pthread_exit. */
	sp_text_add(&text, "/proc/thread-self/fd/");
	sp_text_add_number(&text, (uint64_t)fd, 10);
	length = SP_SYS4(SYS_readlinkat, AT_FDCWD, link, path, LINK_BYTES - 1);
	path[length > 0 ? length : 0] = 0;
	return length > 0 ? (size_t)length : 0;
}

/* The kernel reports no path beyond 4095 bytes and none without /proc. The file then gets a name
 * made from its inode, as the kernel names pipes, so that two files stay two. */
static size_t inode_name(const struct stat *st, char *path)
{
	struct sp_text text = sp_text_init(path, LINK_BYTES);

	sp_text_add(&text, S_ISFIFO(st->st_mode)   ? "pipe:["
			   : S_ISSOCK(st->st_mode) ? "socket:["
						   : "file:[");
	if (!S_ISFIFO(st->st_mode) && !S_ISSOCK(st->st_mode)) {
		sp_text_add_number(&text, major(st->st_dev), 10);
		sp_text_add(&text, ":");
		sp_text_add_number(&text, minor(st->st_dev), 10);
		sp_text_add(&text, ":");
	}
	sp_text_add_number(&text, st->st_ino, 10);
	sp_text_add(&text, "]");
	return strlen(path);
}

/* Called once for a path, not once for an open. fd < 0: the path is asked. */
static uint64_t fs_magic_of(int fd, const char *path, enum sp_file_type type)
{
	struct statfs fs;
	long ret;

	if (type != SP_FILE_REGULAR)
		return 0;
	ret = fd < 0 ? SP_SYS2(SYS_statfs, path, &fs) : SP_SYS2(SYS_fstatfs, fd, &fs);
	return ret < 0 ? 0 : (uint32_t)fs.f_type;
}

static uint32_t file_define(struct sp_thread *t, int fd, const struct stat *st, const char *path,
			    size_t length, enum sp_file_type type, uint64_t fs_magic)
{
	struct sp_file_metadata metadata = {.type = type,
					    .fd = (uint32_t)fd,
					    .device = st->st_dev,
					    .inode = st->st_ino,
					    .fs_magic = fs_magic,
					    .size = (uint64_t)st->st_size};
	uint32_t id = __atomic_add_fetch(&sp_process->file_ids, 1, __ATOMIC_RELAXED);

	id = (id & ((1u << SP_FILE_TYPE_SHIFT) - 1)) | (uint32_t)type << SP_FILE_TYPE_SHIFT;
	sp_define(t, SP_DEFINE_FILE, id, &metadata, sizeof(metadata), path, length);
	if (fs_magic == TMPFS_MAGIC)
		__atomic_store_n(&memory_files[id % MEMORY_FILES], id, __ATOMIC_RELAXED);
	return id;
}

/* One line of coverage for each process image that uses the network. */
static void note_net(enum sp_file_type type)
{
	static uint64_t reported;

	if (type == SP_FILE_NET && sp_coverage_is_new(&reported))
		sp_coverage_add("sockets", "bound", "libc");
}

static size_t name_of(int fd, const struct stat *st, const char *peer, char *path)
{
	size_t length = 0;

	if (peer) {
		length = strlen(peer);
		memcpy(path, peer, length + 1);
	} else if (S_ISSOCK(st->st_mode)) {
		length = sp_peer_name_unseen(fd, path);
	}
	if (length == 0)
		length = link_read(fd, path);
	return length ? length : inode_name(st, path);
}

/* A path that is opened again keeps its id, and so does a peer. The name of a pipe is its inode.
 * `path` is changed. */
static uint32_t file_intern(struct sp_thread *t, int fd, const struct stat *st, char *path,
			    size_t length)
{
	enum sp_file_type type = type_of(st->st_mode, path);
	struct sp_interned *entry;
	uint64_t fs_magic;
	uint32_t id;

	id = sp_process_intern(XXH64(path, length, type), &entry);
	if (id)
		return id;
	fs_magic = fs_magic_of(fd, path, type);
	length = sp_redact(path, length);
	id = file_define(t, fd, st, path, length, type, fs_magic);
	note_net(type);
	if (entry)
		__atomic_store_n(&entry->id, id, __ATOMIC_RELEASE);
	return id;
}

struct registration {
	struct sp_thread *thread;
	int fd;
	uint32_t file;
	const struct sockaddr *peer; /* of a socket that was just connected; else NULL */
	socklen_t peer_bytes;
};

static void register_fd(void *argument)
{
	struct registration *m = argument;
	char peer[SP_PEER_NAME_BYTES], path[LINK_BYTES];
	size_t named = 0, length;
	uint32_t *entry;
	struct stat st;

	sp_unobserved_exec_report(m->thread);
	if (SP_SYS2(SYS_fstat, m->fd, &st) < 0)
		return;
	if (m->peer && S_ISSOCK(st.st_mode))
		named = sp_peer_name_of(m->peer, m->peer_bytes, peer);
	length = name_of(m->fd, &st, named ? peer : NULL, path);
	m->file = file_intern(m->thread, m->fd, &st, path, length);
	entry = entry_of(m->fd, 1);
	if (entry)
		__atomic_store_n(entry, m->file, __ATOMIC_RELAXED);
}

struct naming {
	struct sp_thread *thread;
	const char *path;
	uint32_t file;
};

/* Another thread may have unmapped the path since the kernel read it. Returns false where no text
 * may be kept. */
static int path_read(const char *from, char path[LINK_BYTES])
{
	struct iovec chunks[] = {sp_host_memory_chunk(from, LINK_BYTES - 1), {NULL, 0}};
	long bytes;
	char *last;

	chunks[1] =
		sp_host_memory_chunk(from + chunks[0].iov_len, LINK_BYTES - 1 - chunks[0].iov_len);
	bytes = sp_host_memory_read(path, chunks, 2);
	path[bytes > 0 ? bytes : 0] = 0;
	last = strrchr(path, '/');
	if (sp_redact_keeps_last_part() && last)
		memmove(path, last + 1, strlen(last));
	return *path && (sp_redact_keeps_whole() || sp_redact_keeps_last_part());
}

static void name_path(void *argument)
{
	struct naming *m = argument;
	struct sp_file_metadata metadata = {.type = SP_FILE_UNKNOWN};
	char path[LINK_BYTES];

	if (!path_read(m->path, path))
		return;
	m->file = __atomic_add_fetch(&sp_process->file_ids, 1, __ATOMIC_RELAXED) &
		  ((1u << SP_FILE_TYPE_SHIFT) - 1);
	sp_define(m->thread, SP_DEFINE_FILE, m->file, &metadata, sizeof(metadata), path,
		  strlen(path));
}

uint32_t sp_fd_path_define(struct sp_thread *t, const char *path)
{
	struct naming m = {.thread = t, .path = path};

	if (!sp_process_is_frozen())
		sp_call_on_own_stack(name_path, &m);
	return m.file;
}

uint32_t sp_fd_register(struct sp_thread *t, int fd)
{
	struct registration m = {.thread = t, .fd = fd, .file = sp_fd_file_known(fd)};

	if (!m.file && fd >= 0 && !sp_process_is_frozen())
		sp_call_on_own_stack(register_fd, &m);
	return m.file;
}

uint32_t sp_fd_connected(struct sp_thread *t, int fd, const struct sockaddr *peer, socklen_t bytes)
{
	struct registration m = {.thread = t, .fd = fd, .peer = peer, .peer_bytes = bytes};

	sp_fd_unregister(fd);
	if (fd >= 0 && !sp_process_is_frozen())
		sp_call_on_own_stack(register_fd, &m);
	return m.file;
}

bool sp_fd_is_memory(uint32_t file)
{
	return __atomic_load_n(&memory_files[file % MEMORY_FILES], __ATOMIC_RELAXED) == file;
}

uint32_t sp_fd_path_file(struct sp_thread *t, const char *path, uint64_t inode)
{
	char name[LINK_BYTES];
	struct sp_text text = sp_text_init(name, sizeof(name));
	struct stat st;

	sp_text_add(&text, path);
	if (SP_SYS4(SYS_newfstatat, AT_FDCWD, name, &st, 0) < 0 || st.st_ino != inode)
		st = (struct stat){.st_mode = S_IFREG, .st_ino = inode};
	return file_intern(t, -1, &st, name, strlen(name));
}
