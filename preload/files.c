#include "preload/files.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/deep.h"
#include "preload/memory.h"
#include "preload/paths.h"
#include "preload/process.h"
#include "preload/redact.h"
#include "preload/sys.h"

#define FAR_ENTRIES 1024u
#define FAR_TABLES 4096u
#define LINK_BYTES 4096u

_Static_assert(sizeof(((struct sp_process *)0)->files_near) == SP_FILES_NEAR * sizeof(uint32_t),
	       "the near table is the process's");
_Static_assert(sizeof(((struct sp_process *)0)->files_far) == FAR_TABLES * sizeof(uint32_t *),
	       "the far tables are the process's");

/* The table of descriptors [1024 n, 1024 n + 1024): made on first use. The loser of a race keeps its
 * mapping for nothing, once. */
static uint32_t *far_table(unsigned n, int make)
{
	uint32_t **place = &sp_process->files_far[n];
	uint32_t *table = __atomic_load_n(place, __ATOMIC_ACQUIRE), *made;

	if (table || !make || sp_process_is_frozen())
		return table;
	made = sp_pages_make(FAR_ENTRIES * sizeof(uint32_t));
	if (!made || __atomic_compare_exchange_n(place, &table, made, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
		return made;
	sp_pages_free(made, FAR_ENTRIES * sizeof(uint32_t));
	return table;
}

static uint32_t *entry_of(int fd, int make)
{
	unsigned n = (unsigned)fd;
	uint32_t *table;

	if (n < SP_FILES_NEAR)
		return &sp_files_near[n];
	if (n / FAR_ENTRIES >= FAR_TABLES)
		return NULL;
	table = far_table(n / FAR_ENTRIES, make);
	return table ? &table[n % FAR_ENTRIES] : NULL;
}

uint32_t sp_file_known(int fd)
{
	uint32_t *entry = entry_of(fd, 0);

	return entry ? __atomic_load_n(entry, __ATOMIC_RELAXED) : 0;
}

void sp_file_forget(int fd)
{
	uint32_t *entry = entry_of(fd, 0);

	if (entry)
		__atomic_store_n(entry, 0, __ATOMIC_RELAXED);
}

void sp_file_forget_range(unsigned first, unsigned last)
{
	unsigned end = FAR_ENTRIES * FAR_TABLES;

	for (unsigned fd = first; fd <= last && fd < end; fd++) {
		if (fd >= SP_FILES_NEAR && fd % FAR_ENTRIES == 0 && !far_table(fd / FAR_ENTRIES, 0)) {
			fd += FAR_ENTRIES - 1;
			continue;
		}
		sp_file_forget((int)fd);
	}
}

void sp_file_copy(int from, int to)
{
	uint32_t file = sp_file_known(from);
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
		return SP_FILE_SOCKET;
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

/* Where the kernel tells no path, which it does not beyond 4095 bytes, nor without /proc: a name as it gives to
 * pipes, so that two files stay two. */
static size_t inode_name(const struct stat *st, char *path)
{
	struct sp_text text = sp_text_init(path, LINK_BYTES);

	sp_text_add(&text, S_ISFIFO(st->st_mode) ? "pipe:[" : S_ISSOCK(st->st_mode) ? "socket:[" : "file:[");
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

/* Once a path, not once an opening. */
static uint64_t fs_magic_of(int fd, enum sp_file_type type)
{
	struct statfs fs;

	if (type != SP_FILE_REGULAR || SP_SYS2(SYS_fstatfs, fd, &fs) < 0)
		return 0;
	return (uint32_t)fs.f_type;
}

static uint32_t file_define(struct sp_thread *t, int fd, const struct stat *st, const char *path,
			    size_t length, enum sp_file_type type)
{
	struct sp_file_facts facts = {.type = type,
				      .fd = (uint32_t)fd,
				      .device = st->st_dev,
				      .inode = st->st_ino,
				      .fs_magic = fs_magic_of(fd, type),
				      .size = (uint64_t)st->st_size};
	uint32_t id = __atomic_add_fetch(&sp_process->file_ids, 1, __ATOMIC_RELAXED);

	id = (id & ((1u << SP_FILE_TYPE_SHIFT) - 1)) | (uint32_t)type << SP_FILE_TYPE_SHIFT;
	sp_define(t, SP_DEFINE_FILE, id, &facts, sizeof(facts), path, length);
	return id;
}

/* The same path opened again is the same file to the reader of a report; a pipe's name is its inode. */
static uint32_t file_intern(struct sp_thread *t, int fd, const struct stat *st)
{
	char path[LINK_BYTES];
	size_t length = link_read(fd, path);
	enum sp_file_type type;
	struct sp_interned *entry;
	uint32_t id;

	if (length == 0)
		length = inode_name(st, path);
	type = type_of(st->st_mode, path);
	id = sp_process_intern(XXH64(path, length, type), &entry);
	if (id)
		return id;
	length = sp_redact(path, length);
	id = file_define(t, fd, st, path, length, type);
	if (entry)
		__atomic_store_n(&entry->id, id, __ATOMIC_RELEASE);
	return id;
}

struct meeting {
	struct sp_thread *thread;
	int fd;
	uint32_t file;
};

static void meet(void *argument)
{
	struct meeting *m = argument;
	uint32_t *entry;
	struct stat st;

	sp_stray_tell(m->thread);
	if (SP_SYS2(SYS_fstat, m->fd, &st) < 0)
		return;
	m->file = file_intern(m->thread, m->fd, &st);
	entry = entry_of(m->fd, 1);
	if (entry)
		__atomic_store_n(entry, m->file, __ATOMIC_RELAXED);
}

uint32_t sp_file_meet(struct sp_thread *t, int fd)
{
	struct meeting m = {t, fd, sp_file_known(fd)};

	if (!m.file && fd >= 0 && !sp_process_is_frozen())
		sp_deep_call(meet, &m);
	return m.file;
}
