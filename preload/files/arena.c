/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/files/arena.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <time.h>

#include "preload/sys/clock.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"
#include "trace/arenas/arena_collect.h"

/* The first arena of a process is small: most processes have one thread of few events. */
#define FIRST_UNITS 2u
/* Units that are not in use hold bytes of tails before them. */
#define POPULATE_BYTES (64u * 1024u)
/* Arenas of others that one process looks at: it has its own work to do. */
#define COLLECT_MOST 8u
/* The most that a begin and an end wait for a file system; tails stay here otherwise. */
#define BEGIN_WAIT_NS 100000000u
#define END_WAIT_NS 1000000000u

static uint64_t mount_namespace(void)
{
	struct stat st;

	return SP_SYS4(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/mnt", &st, 0) < 0
		       ? 0
		       : (uint64_t)st.st_ino;
}

static void pool_lock(struct sp_arena_pool *pool)
{
	const struct timespec pause = {0, 50000};

	for (int i = 0; __atomic_exchange_n(&pool->lock, 1, __ATOMIC_ACQUIRE); i++) {
		if (i < 100)
			SP_SYS1(SYS_sched_yield, 0);
		else
			SP_SYS2(SYS_nanosleep, &pause, 0);
	}
}

static void pool_unlock(struct sp_arena_pool *pool)
{
	__atomic_store_n(&pool->lock, 0, __ATOMIC_RELEASE);
}

/* Without SHM_NORESERVE the system sets all of it aside here, not at a store. */
static struct sp_arena *shared_make(size_t bytes, int *ret_id)
{
	const struct sp_collect c = {.sys = sp_sys, .uid = (uint64_t)SP_SYS1(SYS_geteuid, 0)};
	long id, at;

	if (!sp_arenas_have_room(&c, bytes))
		return NULL;
	id = SP_SYS3(SYS_shmget, IPC_PRIVATE, bytes, IPC_CREAT | IPC_EXCL | 0600);
	if (id < 0)
		return NULL;
	at = SP_SYS3(SYS_shmat, id, 0, 0);
	if (sp_sys_failed(at)) {
		SP_SYS3(SYS_shmctl, id, IPC_RMID, 0);
		return NULL;
	}
	SP_SYS3(SYS_madvise, at, bytes, MADV_DONTFORK);
	*ret_id = (int)id;
	return (struct sp_arena *)at;
}

static struct sp_arena *private_make(size_t bytes, int *ret_id)
{
	struct sp_arena *arena = sp_pages_make(bytes);

	*ret_id = -1;
	if (arena)
		SP_SYS3(SYS_madvise, arena, bytes, MADV_DONTFORK);
	return arena;
}

static void arena_fill(struct sp_arena *a, const struct sp_arena_identity *identity)
{
	const struct sp_file_header *h = identity->header;
	size_t bytes = identity->name_bytes;
	uint64_t tag;

	a->run_token[0] = h->run_token[0];
	a->run_token[1] = h->run_token[1];
	a->image_start_ns = h->image_start_ns;
	a->pid = h->pid;
	a->mount_namespace = mount_namespace();
	memcpy(a->name, identity->name, bytes < sizeof(a->name) ? bytes : sizeof(a->name) - 1);
	if (strlen(identity->directory) < sizeof(a->directory))
		strcpy(a->directory, identity->directory);
	a->header = *h;
	a->version = SP_ARENA_VERSION;
	/* The tag comes last: a reader that finds the tag finds all of the rest. */
	memcpy(&tag, SP_TAG_ARENA, sizeof(tag));
	__atomic_store_n((uint64_t *)(void *)a->tag, tag, __ATOMIC_RELEASE);
}

/* Each arena of a process is four times as large as the one before. */
static uint32_t units_wanted(const struct sp_arena_pool *pool, uint32_t least)
{
	uint32_t units = FIRST_UNITS;

	for (uint32_t i = 0; i < pool->count && units < SP_ARENA_UNITS_MAX; i++)
		units *= 4;
	units = units < SP_ARENA_UNITS_MAX ? units : SP_ARENA_UNITS_MAX;
	return units > least ? units : least;
}

static struct sp_arena *arena_make(struct sp_arena_pool *pool,
				   const struct sp_arena_identity *identity, uint32_t least)
{
	const uint64_t *token = identity->header->run_token;
	uint32_t units = units_wanted(pool, least), at = pool->count;
	struct sp_arena *a;

	if (at == SP_ARENAS_MAX)
		return NULL;
	a = pool->is_private
		    ? NULL
		    : shared_make(sp_arena_segment_bytes(units, token), &pool->list[at].id);
	if (!a && !pool->is_private && units > least) {
		units = least;
		a = shared_make(sp_arena_segment_bytes(units, token), &pool->list[at].id);
	}
	if (!a) {
		a = private_make(sp_arena_bytes(units), &pool->list[at].id);
		pool->is_private = a != NULL;
	}
	if (!a)
		return NULL;
	a->units = units;
	a->number = pool->number++;
	arena_fill(a, identity);
	pool->list[at].arena = a;
	pool->list[at].used = 0;
	pool->count++;
	if (!pool->header)
		pool->header = &a->header;
	return a;
}

/* First fit. Entries of units in use have `units` in their first one. */
static int units_find(const struct sp_arena *a, uint32_t wanted, uint32_t *ret_unit)
{
	const struct sp_arena_tail *tails = sp_arena_tails(a, a->units);
	uint32_t free_units = 0;

	for (uint32_t unit = 0; unit < a->units;
	     unit += tails[unit].units ? tails[unit].units : 1) {
		free_units = tails[unit].units ? 0 : free_units + 1;
		if (free_units == wanted) {
			*ret_unit = unit + 1 - wanted;
			return 1;
		}
	}
	return 0;
}

static void unit_use(struct sp_tail *tail, struct sp_pooled_arena *in, uint32_t units)
{
	tail->arena = in->arena;
	tail->is_new = tail->unit >= in->used;
	if (tail->unit + units > in->used)
		in->used = tail->unit + units;
}

static struct sp_tail tail_find(struct sp_arena_pool *pool,
				const struct sp_arena_identity *identity, uint32_t units)
{
	struct sp_tail tail = {.bytes = NULL};

	for (uint32_t i = 0; i < pool->count; i++)
		if (units_find(pool->list[i].arena, units, &tail.unit)) {
			unit_use(&tail, &pool->list[i], units);
			return tail;
		}
	if (arena_make(pool, identity, units)) {
		tail.unit = 0;
		unit_use(&tail, &pool->list[pool->count - 1], units);
	}
	return tail;
}

struct sp_tail sp_tail_take(struct sp_arena_pool *pool, const struct sp_arena_identity *identity,
			    size_t bytes)
{
	uint32_t units = (uint32_t)((bytes + SP_ARENA_UNIT_BYTES - 1) / SP_ARENA_UNIT_BYTES);
	struct sp_tail tail;

	pool_lock(pool);
	tail = tail_find(pool, identity, units);
	if (tail.arena) {
		sp_tail_entry(&tail)->units = units;
		tail.bytes = sp_arena_unit(tail.arena, tail.arena->units, tail.unit);
		pool->tails++;
	}
	pool_unlock(pool);
	if (!tail.bytes)
		return tail;
	/* page by page it costs ten times as much */
	if (bytes >= POPULATE_BYTES)
		SP_SYS3(SYS_madvise, tail.bytes, (size_t)units * SP_ARENA_UNIT_BYTES,
			MADV_POPULATE_WRITE);
	return tail;
}

void sp_tail_show(const struct sp_tail *tail, uint64_t stream_id, uint32_t window_at)
{
	struct sp_arena_tail *entry = sp_tail_entry(tail);

	entry->window_at = window_at;
	__atomic_store_n(&entry->stream_id, stream_id, __ATOMIC_RELEASE);
	__atomic_add_fetch(&tail->arena->changes, 1, __ATOMIC_RELEASE);
}

void sp_tail_hide(const struct sp_tail *tail)
{
	__atomic_store_n(&sp_tail_entry(tail)->stream_id, 0, __ATOMIC_RELEASE);
	__atomic_add_fetch(&tail->arena->changes, 1, __ATOMIC_RELEASE);
}

void sp_tail_give(struct sp_arena_pool *pool, struct sp_tail *tail)
{
	struct sp_arena_tail *entry = sp_tail_entry(tail);

	__atomic_store_n(&entry->stream_id, 0, __ATOMIC_RELEASE);
	__atomic_add_fetch(&tail->arena->changes, 1, __ATOMIC_RELEASE);
	pool_lock(pool);
	entry->units = 0;
	pool->tails--;
	pool_unlock(pool);
	tail->bytes = NULL;
}

struct sp_file_header *sp_arenas_header(const struct sp_arena_pool *pool)
{
	return pool->header;
}

struct collect_task {
	struct sp_arena_pool *pool; /* NULL: what others left */
	struct sp_arena_keeper keeper;
	uint32_t left;
	struct sp_collect collect;
	struct sp_collect_paths paths;
};

static long keep(const struct sp_collect *c, const struct sp_arena_view *view)
{
	return sp_arena_keep(c->keeper, view);
}

static void task_collect(void *argument)
{
	struct collect_task *e = argument;

	if (!e->pool) {
		sp_arenas_collect(&e->collect, NULL);
		return;
	}
	for (uint32_t i = 0; i < e->pool->count; i++) {
		const struct sp_arena_view view = {.arena = e->pool->list[i].arena,
						   .units = e->pool->list[i].arena->units};

		sp_arena_write(&e->collect, &view);
	}
}

/* Processes of the same run may have left arenas a moment ago. */
static int has_siblings(const struct sp_arena_keeper *keeper)
{
	const struct sp_spare_table *table = keeper->spares->table;

	return table && __atomic_load_n(&table->used, __ATOMIC_RELAXED);
}

static void collect(struct sp_arena_pool *pool, const struct sp_arena_keeper *keeper)
{
	struct collect_task *e = sp_timed_task_make(sizeof(*e));

	if (!e)
		return;
	e->pool = pool;
	e->collect.sys = sp_sys;
	e->collect.paths = &e->paths;
	e->collect.uid = (uint64_t)SP_SYS1(SYS_geteuid, 0);
	e->collect.mount_namespace = mount_namespace();
	e->collect.now_s = sp_clock_ns(CLOCK_REALTIME) / 1000000000u;
	e->collect.own_run = keeper->run_token;
	e->collect.keep = keep;
	e->keeper = *keeper;
	e->collect.keeper = &e->keeper;
	e->collect.is_first = !pool && !has_siblings(keeper);
	e->collect.most = COLLECT_MOST;
	e->collect.begin = (uint32_t)SP_SYS1(SYS_getpid, 0);
	if (!sp_timed_task(e, task_collect, pool ? END_WAIT_NS : BEGIN_WAIT_NS, &e->left))
		sp_timed_task_free(e);
}

/* The host may have entered another IPC namespace, where memory of its own has the number of ours:
 * the size shows whose it is. */
static int is_still_ours(const struct sp_pooled_arena *in)
{
	struct shmid_ds ds;

	return in->id >= 0 && SP_SYS3(SYS_shmctl, in->id, IPC_STAT, &ds) == 0 &&
	       ds.shm_segsz == sp_arena_segment_bytes(in->arena->units, in->arena->run_token);
}

/* Arenas stay attached: the header needs them, and so does a thread that ends later. */
static void arenas_leave(struct sp_arena_pool *pool)
{
	for (uint32_t i = 0; i < pool->count; i++)
		if (is_still_ours(&pool->list[i]))
			SP_SYS3(SYS_shmctl, pool->list[i].id, IPC_RMID, 0);
	pool->count = 0;
}

void sp_arenas_end(struct sp_arena_pool *pool, const struct sp_arena_keeper *keeper)
{
	unsigned long before;

	if (!pool->count)
		return;
	before = sp_signals_block();
	pool_lock(pool);
	if (pool->tails)
		collect(pool, keeper);
	else
		arenas_leave(pool);
	pool_unlock(pool);
	sp_signals_restore(before);
}

void sp_arenas_collect_others(const struct sp_arena_keeper *keeper)
{
	struct sp_collect probe = {
		.sys = sp_sys,
		.uid = (uint64_t)SP_SYS1(SYS_geteuid, 0),
		.own_run = keeper->run_token,
		.now_s = sp_clock_ns(CLOCK_REALTIME) / 1000000000u,
		.is_first = !has_siblings(keeper),
	};

	if (sp_arenas_are_left(&probe))
		collect(NULL, keeper);
}
