/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/arenas/arena_collect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>

#include "trace/arenas/tail_copy.h"

#define SYS(c, n, a1, a2, a3, a4, a5)                                                              \
	((c)->sys(n, (long)(a1), (long)(a2), (long)(a3), (long)(a4), (long)(a5), 0))

/* The numbers are the kernel's; <sys/shm.h> has them for _GNU_SOURCE alone. */
#define SHM_STAT_BY_NUMBER 13
#define SHM_INFO_OF_ALL 14
#define LIMITS_OF_ALL 3

/* Seconds in which the processes and the report of its run have an arena to themselves... */
#define LEFT_S 600u
/* ... as long as all that are left are no more than these. */
#define LEFT_MOST 16u
#define LEFT_BYTES_MOST (8u * 1024u * 1024u)
/* Arenas that one caller looks at where they are more. */
#define LOOK_MOST_CROWDED 64u
/* Up to these nobody asks whose memory it is. */
#define FEW 64
#define FEW_BYTES (32u * 1024u * 1024u)
/* Entries of a directory in which a moved run is looked for; directories above it. */
#define ENTRIES_MOST 512u
#define LEVELS 2

/* The kernel's struct linux_dirent64. */
struct directory_entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

struct tail_writer {
	struct sp_collect *c;
	long fd;
	uint64_t at, most; /* a byte more would be SIGXFSZ */
	long error;
};

static char *text_add(char *at, const char *end, const char *text, size_t most)
{
	for (size_t i = 0; at && i < most && text[i]; i++) {
		if (at + 1 >= end)
			return NULL;
		*at++ = text[i];
	}
	if (at)
		*at = 0;
	return at;
}

static char *hex_add(char *at, const char *end, uint64_t number)
{
	char digits[17];

	for (int i = 0; i < 16; i++)
		digits[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
	digits[16] = 0;
	return text_add(at, end, digits, 16);
}

static char *decimal_add(char *at, const char *end, uint32_t number)
{
	char digits[11];
	char *p = digits + 10;

	*p = 0;
	do {
		*--p = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return text_add(at, end, p, 11);
}

static long raw_failed(long ret)
{
	return (unsigned long)ret > -4096UL;
}

long sp_arena_highest(const struct sp_collect *c)
{
	struct shmid_ds unused[2]; /* the kernel's struct shm_info is smaller */

	return SYS(c, SYS_shmctl, 0, SHM_INFO_OF_ALL, unused, 0, 0);
}

static int is_arena(const struct sp_arena *a, size_t bytes, uint32_t *ret_units)
{
	uint32_t units = a->units;

	*ret_units = units;
	return memcmp(a->tag, SP_TAG_ARENA, sizeof(a->tag)) == 0 &&
	       a->version == SP_ARENA_VERSION && units > 0 && units <= SP_ARENA_UNITS_MAX &&
	       sp_arena_segment_bytes(units, a->run_token) == bytes;
}

/* Bytes of a segment beyond whole units, for the run; SP_ARENA_RUN_BYTES or more: it is none. */
static size_t run_bytes(size_t bytes)
{
	const size_t least = sp_arena_bytes(1) + SP_ARENA_SIGN_BYTES;
	const size_t most = sp_arena_bytes(SP_ARENA_UNITS_MAX) + SP_ARENA_SIGN_BYTES;

	if (bytes < least || bytes >= most + SP_ARENA_RUN_BYTES)
		return SP_ARENA_RUN_BYTES;
	return (bytes - least) % SP_ARENA_UNIT_BYTES;
}

static int is_crowded(const struct sp_collect *c)
{
	return c->left > LEFT_MOST || c->left_bytes > LEFT_BYTES_MOST;
}

static int is_left_to_others(const struct sp_collect *c, const struct shmid_ds *ds)
{
	return c->own_run && !is_crowded(c) &&
	       run_bytes(ds->shm_segsz) != c->own_run[0] % SP_ARENA_RUN_BYTES &&
	       c->now_s < (uint64_t)ds->shm_dtime + LEFT_S;
}

/* cuid cannot be changed, so another user's segment cannot pass for ours. */
static int is_of_user(const struct sp_collect *c, const struct shmid_ds *ds)
{
	return ds->shm_perm.cuid == c->uid && ds->shm_perm.uid == c->uid;
}

static int may_be_arena(const struct sp_collect *c, const struct shmid_ds *ds)
{
	return ds->shm_perm.__key == IPC_PRIVATE && (c->any_user || is_of_user(c, ds)) &&
	       (ds->shm_perm.mode & 0777) == 0600 && run_bytes(ds->shm_segsz) < SP_ARENA_RUN_BYTES;
}

static int is_zero(const void *bytes, const void *end)
{
	static const char zeros[256];
	const char *at = bytes;
	size_t left = (size_t)((const char *)end - at);

	for (; left > sizeof(zeros); at += sizeof(zeros), left -= sizeof(zeros))
		if (memcmp(at, zeros, sizeof(zeros)) != 0)
			return 0;
	return memcmp(at, zeros, left) == 0;
}

/* Another program's memory may have the size of an arena by chance, and its first words may be 0.
 * An arena gets its units and its number, then its run, then the rest, and the tag last. */
static int is_unfinished(const struct sp_arena *a, size_t bytes)
{
	if (!is_zero(a->tag, a->tag + sizeof(a->tag)))
		return 0;
	if (a->run_token[0])
		return a->units <= SP_ARENA_UNITS_MAX &&
		       sp_arena_segment_bytes(a->units, a->run_token) == bytes;
	return is_zero(a->run_token, (const char *)a + bytes);
}

static int is_maker_gone(const struct sp_collect *c, const struct shmid_ds *ds)
{
	return ds->shm_cpid && SYS(c, SYS_kill, ds->shm_cpid, 0, 0, 0, 0) == -ESRCH;
}

/* The process was killed before it stored the tag. */
static int was_never_arena(const struct sp_collect *c, const struct sp_arena_view *view,
			   const struct shmid_ds *ds)
{
	return c->only_left && view->is_alone && view->is_of_user && is_maker_gone(c, ds) &&
	       is_unfinished(view->arena, ds->shm_segsz);
}

static int arena_stat(const struct sp_collect *c, long number, struct shmid_ds *ret)
{
	return SYS(c, SYS_shmctl, number, SHM_STAT_BY_NUMBER, ret, 0, 0) >= 0 &&
	       may_be_arena(c, ret);
}

int sp_arenas_are_left(struct sp_collect *c)
{
	long highest = sp_arena_highest(c);
	struct shmid_ds ds;
	int are_due = 0;

	c->left = 0;
	c->left_bytes = 0;
	for (long number = 0; number <= highest; number++) {
		if (!arena_stat(c, number, &ds) || ds.shm_nattch)
			continue;
		c->left++;
		c->left_bytes += ds.shm_segsz;
		are_due |= c->is_first || !is_left_to_others(c, &ds);
	}
	return are_due;
}

int sp_arenas_have_room(const struct sp_collect *c, uint64_t bytes)
{
	struct shm_info all;
	struct shminfo limits;
	struct sysinfo memory;
	struct shmid_ds ds;
	uint64_t count = 0;
	long highest = SYS(c, SYS_shmctl, 0, SHM_INFO_OF_ALL, &all, 0, 0);

	if (highest < 0 || (all.used_ids < FEW && all.shm_tot < FEW_BYTES / 4096))
		return 1;
	for (long number = 0; number <= highest; number++)
		if (arena_stat(c, number, &ds)) {
			count++;
			bytes += ds.shm_segsz;
		}
	return SYS(c, SYS_shmctl, 0, LIMITS_OF_ALL, &limits, 0, 0) >= 0 &&
	       SYS(c, SYS_sysinfo, &memory, 0, 0, 0, 0) >= 0 && count < limits.shmmni / 4 &&
	       bytes <= (uint64_t)memory.totalram * memory.mem_unit / 16;
}

struct sp_arena_view sp_arena_attach(const struct sp_collect *c, long number)
{
	struct sp_arena_view view = {.arena = NULL};
	struct shmid_ds ds;
	long id, at;

	id = SYS(c, SYS_shmctl, number, SHM_STAT_BY_NUMBER, &ds, 0, 0);
	if (id < 0 || !may_be_arena(c, &ds) || (c->only_left && ds.shm_nattch))
		return view;
	view.may_wait = is_left_to_others(c, &ds);
	if (c->only_left && view.may_wait && !c->is_first)
		return view;
	at = SYS(c, SYS_shmat, id, 0, SHM_RDONLY, 0, 0);
	if (raw_failed(at))
		return view;
	view.arena = (const struct sp_arena *)at;
	view.id = (int)id;
	view.bytes = ds.shm_segsz;
	view.is_of_user = is_of_user(c, &ds);
	/* Asked again: who made it may have attached it since. */
	view.is_alone = SYS(c, SYS_shmctl, id, IPC_STAT, &ds, 0, 0) == 0 && ds.shm_nattch == 1;
	if (!is_arena(view.arena, ds.shm_segsz, &view.units)) {
		if (was_never_arena(c, &view, &ds))
			SYS(c, SYS_shmctl, view.id, IPC_RMID, 0, 0, 0);
		sp_arena_detach(c, &view);
	}
	return view;
}

void sp_arena_detach(const struct sp_collect *c, struct sp_arena_view *view)
{
	SYS(c, SYS_shmdt, view->arena, 0, 0, 0, 0);
	view->arena = NULL;
}

size_t sp_arena_tail_bytes(const struct sp_arena_view *view, uint32_t unit, uint32_t *ret_window_at)
{
	const struct sp_arena_tail *tail = &sp_arena_tails(view->arena, view->units)[unit];
	uint64_t stream = __atomic_load_n(&tail->stream_id, __ATOMIC_ACQUIRE);
	uint32_t units = tail->units, window_at = tail->window_at;
	size_t bytes = (size_t)units * SP_ARENA_UNIT_BYTES;

	*ret_window_at = window_at;
	if (!stream || !units || units > view->units - unit || window_at % 8 ||
	    window_at < SP_HEADER_FRAME_BYTES || window_at > bytes - SP_WINDOW_HEAD_BYTES)
		return 0;
	return bytes;
}

static void put(struct tail_writer *w, const void *bytes, size_t count)
{
	const uint8_t *from = bytes;

	if (!w->error && (w->at > w->most || count > w->most - w->at))
		w->error = -EFBIG;
	while (count && !w->error) {
		long n = SYS(w->c, SYS_pwrite64, w->fd, from, count, w->at, 0);

		if (n <= 0) {
			w->error = n ? n : -EIO;
			break;
		}
		from += n;
		count -= (size_t)n;
		w->at += (uint64_t)n;
	}
}

/* The thread of the tail may live. Returns 1 where there is something to put. */
static uint32_t living_put(struct tail_writer *w, const uint8_t *tail, size_t bytes,
			   uint32_t window_at)
{
	long at = SYS(w->c, SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1);
	uint8_t *copy = (uint8_t *)at;
	size_t used;

	if (raw_failed(at)) {
		w->error = w->error ? w->error : at;
		return 0;
	}
	used = sp_tail_copy(copy, tail, bytes, window_at);
	if (used) {
		put(w, copy, used);
		put(w, copy + window_at, bytes - window_at);
	}
	SYS(w->c, SYS_munmap, at, bytes, 0, 0, 0);
	return used != 0;
}

static uint32_t tails_put(struct tail_writer *w, const struct sp_arena_view *view)
{
	uint32_t tails = 0;

	for (uint32_t unit = 0; unit < view->units; unit++) {
		const uint8_t *tail = sp_arena_unit(view->arena, view->units, unit);
		uint32_t window_at;
		size_t bytes = sp_arena_tail_bytes(view, unit, &window_at);

		if (!bytes)
			continue;
		if (!view->is_alone) {
			tails += living_put(w, tail, bytes, window_at);
			continue;
		}
		put(w, tail, sp_arena_tail_used(tail, window_at));
		put(w, tail + window_at, bytes - window_at);
		tails++;
	}
	return tails;
}

static char *directory_add(const char *directory, char *buffer)
{
	const char *end = buffer + SP_COLLECT_PATH_BYTES;

	return text_add(text_add(buffer, end, directory, SP_COLLECT_PATH_BYTES), end, "/", 1);
}

static int names_make(struct sp_collect *c, const struct sp_arena *a, const char *directory)
{
	struct {
		char *buffer;
		const char *prefix;
	} names[] = {{c->paths->path, ""}, {c->paths->temporary, ".new-"}};

	for (int i = 0; i < 2; i++) {
		const char *end = names[i].buffer + SP_COLLECT_PATH_BYTES;
		char *at = directory_add(directory, names[i].buffer);

		at = text_add(at, end, names[i].prefix, 8);
		at = text_add(at, end, a->name, sizeof(a->name));
		at = text_add(at, end, "-tails-", 8);
		at = at ? decimal_add(at, end, a->number) : NULL;
		if (!text_add(at, end, ".zst", 8))
			return 0;
	}
	/* an arena is anybody's memory: a name must not lead out of the directory */
	return a->name[0] && a->name[0] != '.' && !memchr(a->name, '/', sizeof(a->name));
}

/* Before anything is made: this is the directory of that run. */
static long marker_look(struct sp_collect *c, const struct sp_arena *a, const char *directory)
{
	const char *end = c->paths->path + sizeof(c->paths->path);
	char *at = text_add(directory_add(directory, c->paths->path), end, "0-run-", 8);

	at = at ? hex_add(at, end, a->run_token[0]) : NULL;
	at = at ? hex_add(at, end, a->run_token[1]) : NULL;
	if (!text_add(at, end, ".zst", 8))
		return -ENAMETOOLONG;
	return SYS(c, SYS_faccessat, AT_FDCWD, c->paths->path, 0 /* F_OK */, 0, 0);
}

static uint64_t size_limit(struct sp_collect *c)
{
	struct rlimit limit;

	return SYS(c, SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit, 0) < 0 ? UINT64_MAX
									: limit.rlim_cur;
}

/* A umask may have taken the owner's rights. */
static void owner_let(struct sp_collect *c, long fd)
{
	struct stat st;

	if (SYS(c, SYS_fstat, fd, &st, 0, 0, 0) == 0 && (st.st_mode & 0600) != 0600)
		SYS(c, SYS_fchmod, fd, 0600, 0, 0, 0);
}

/* The file of the arena in this directory. */
static long file_make(struct sp_collect *c, const struct sp_arena_view *view, const char *directory)
{
	struct tail_writer w = {.c = c, .most = size_limit(c)};
	long closed;

	w.error = marker_look(c, view->arena, directory);
	if (w.error)
		return w.error;
	if (!names_make(c, view->arena, directory))
		return -EINVAL;
	/* what a collector that was killed left */
	SYS(c, SYS_unlinkat, AT_FDCWD, c->paths->temporary, 0, 0, 0);
	w.fd = SYS(c, SYS_openat, AT_FDCWD, c->paths->temporary,
		   O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600, 0);
	if (w.fd < 0)
		return w.fd;
	owner_let(c, w.fd);
	put(&w, &view->arena->header, sizeof(view->arena->header));
	if (!tails_put(&w, view) && !(view->arena->header.process_lost << 8))
		w.at = 0;
	closed =
		SYS(c, SYS_close, w.fd, 0, 0, 0, 0); /* what FUSE and NFS send later may fail now */
	w.error = w.error ? w.error : closed;
	if (!w.error && w.at)
		w.error = SYS(c, SYS_renameat, AT_FDCWD, c->paths->temporary, AT_FDCWD,
			      c->paths->path, 0);
	if (w.error || !w.at)
		SYS(c, SYS_unlinkat, AT_FDCWD, c->paths->temporary, 0, 0, 0);
	return w.error;
}

static int is_users_directory(const struct sp_collect *c, const char *path)
{
	struct stat st;

	return SYS(c, SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW, 0) == 0 &&
	       S_ISDIR(st.st_mode) && st.st_uid == c->uid;
}

/* Where c->paths->beside ends at `at`, a name of a directory is to follow, and then `rest`. */
struct run_search {
	struct sp_collect *c;
	const struct sp_arena *arena;
	char *at;
	const char *rest; /* of the run's path below that directory; "": nothing */
};

/* Returns 1 and leaves the path where it is the run's. */
static int is_run(struct run_search *s, const char *name, const char *rest)
{
	char *beside = s->c->paths->beside;
	const char *end = beside + SP_COLLECT_PATH_BYTES;
	char *at = text_add(s->at, end, name, SP_COLLECT_PATH_BYTES);

	return text_add(at, end, rest, SP_COLLECT_PATH_BYTES) &&
	       marker_look(s->c, s->arena, beside) == 0 && is_users_directory(s->c, beside);
}

static int entry_is_run(struct run_search *s, const struct directory_entry *entry)
{
	enum { UNKNOWN = 0, DIRECTORY = 4 };

	if ((entry->type != DIRECTORY && entry->type != UNKNOWN) || entry->name[0] == '.')
		return 0;
	return is_run(s, entry->name, "") || (*s->rest && is_run(s, entry->name, s->rest));
}

static long entries_look(struct run_search *s, long fd)
{
	struct sp_collect *c = s->c;
	const char *entries = (const char *)c->paths->entries;
	uint32_t seen = 0;
	long bytes;

	while (seen < ENTRIES_MOST &&
	       (bytes = SYS(c, SYS_getdents64, fd, entries, sizeof(c->paths->entries), 0, 0)) > 0)
		for (long i = 0; i < bytes; seen++) {
			const struct directory_entry *entry = (const void *)(entries + i);

			if (entry_is_run(s, entry))
				return 0;
			i += entry->bytes;
		}
	return -ENOENT;
}

/* The run in a directory that is in the one that ends at `slash`. */
static long run_look(struct sp_collect *c, const struct sp_arena *a, char *slash)
{
	struct run_search s = {.c = c, .arena = a, .at = slash + 1};
	const char *below = c->paths->directory + (s.at - c->paths->beside);
	long fd, error;

	s.rest = strchr(below, '/');
	s.rest = s.rest ? s.rest : "";
	*s.at = 0;
	fd = SYS(c, SYS_openat, AT_FDCWD, c->paths->beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
		 0);
	if (fd < 0)
		return fd;
	error = entries_look(&s, fd);
	SYS(c, SYS_close, fd, 0, 0, 0, 0);
	return error;
}

/* Leaves the run's directory in c->paths->beside: the one that it had, or the one that it has since
 * it was renamed, was moved up, or its parent was renamed. Returns 0 or -errno. */
static long run_find(struct sp_collect *c, const struct sp_arena *a)
{
	char *beside = c->paths->beside, *directory = c->paths->directory, *slash;
	long error;

	/* A copy, because an arena is anybody's memory. */
	memcpy(directory, a->directory, sizeof(a->directory));
	if (directory[0] != '/' || !memchr(directory, 0, sizeof(a->directory)))
		return -ENAMETOOLONG;
	strcpy(beside, directory);
	error = marker_look(c, a, beside);
	for (int i = 0; i < LEVELS && (error == -ENOENT || error == -ENOTDIR); i++) {
		strcpy(beside, directory);
		slash = NULL;
		for (int level = 0; level <= i && (slash = strrchr(beside, '/')); level++)
			*slash = 0;
		if (!slash)
			break;
		*slash = '/';
		error = run_look(c, a, slash);
	}
	return error;
}

long sp_arena_write(struct sp_collect *c, const struct sp_arena_view *view)
{
	long error;

	if (c->keep && c->keep(c, view) == 0)
		return 0;
	error = run_find(c, view->arena);
	return error ? error : file_make(c, view, c->paths->beside);
}

/* The run may have been copied or moved since: both get the file. A process that changed its user
 * could have written any directory into its arena. */
static long write_here_too(struct sp_collect *c, const struct sp_arena_view *view)
{
	long error = view->is_of_user ? sp_arena_write(c, view) : -ENOENT, here;

	if (!c->directory)
		return error;
	if (!names_make(c, view->arena, c->directory))
		return -EINVAL;
	here = SYS(c, SYS_faccessat, AT_FDCWD, c->paths->path, 0 /* F_OK */, 0, 0) == 0
		       ? 0
		       : file_make(c, view, c->directory);
	return error == -ENOENT || error == -ENOTDIR || error == -ENAMETOOLONG ? here : error;
}

static int is_of_run(const struct sp_arena *a, const uint64_t *run_token)
{
	return !run_token || (a->run_token[0] == run_token[0] && a->run_token[1] == run_token[1]);
}

/* A run that was removed wants nothing any more; where its path means something else here, it may
 * be there all the same. */
static int is_gone(const struct sp_collect *c, const struct sp_arena *a, long error)
{
	return (error == -ENOENT || error == -ENOTDIR) && c->mount_namespace &&
	       a->mount_namespace == c->mount_namespace;
}

/* Returns 1 where nobody wants the arena any more. Another caller may have it attached at this
 * moment, too: then that one writes the file. */
static int is_settled(struct sp_collect *c, const struct sp_arena_view *view)
{
	long error = view->may_wait || !view->is_alone ? run_find(c, view->arena) : 0;

	if (is_gone(c, view->arena, error))
		return 1;
	if (view->may_wait || !view->is_alone)
		return 0;
	error = write_here_too(c, view);
	return !error || is_gone(c, view->arena, error);
}

uint32_t sp_arenas_being_taken(const struct sp_collect *c, const uint64_t run_token[2])
{
	long highest = sp_arena_highest(c);
	struct shmid_ds ds;
	uint32_t ret = 0;

	for (long number = 0; number <= highest; number++) {
		struct sp_arena_view view;

		if (!arena_stat(c, number, &ds) || !ds.shm_nattch || !is_maker_gone(c, &ds))
			continue;
		view = sp_arena_attach(c, number);
		ret += view.arena && !view.is_alone && is_of_run(view.arena, run_token);
		sp_arena_detach(c, &view);
	}
	return ret;
}

uint32_t sp_arenas_collect(struct sp_collect *c, const uint64_t *run_token)
{
	long highest = sp_arena_highest(c);
	uint32_t kept = 0, most = c->most, seen = 0;

	sp_arenas_are_left(c);
	if (most && is_crowded(c))
		most = LOOK_MOST_CROWDED;
	c->only_left = 1;
	for (long i = 0; i <= highest && (!most || seen < most); i++) {
		struct sp_arena_view view = sp_arena_attach(c, (c->begin + i) % (highest + 1));

		if (!view.arena)
			continue;
		seen += !view.may_wait;
		if (is_of_run(view.arena, run_token)) {
			if (is_settled(c, &view))
				SYS(c, SYS_shmctl, view.id, IPC_RMID, 0, 0, 0);
			else
				kept++;
		}
		sp_arena_detach(c, &view);
	}
	c->only_left = 0;
	return kept;
}
