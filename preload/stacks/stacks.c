/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/stacks/stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/sys/fd_private_task.h"
#include "preload/stacks/build_id.h"
#include "preload/settings/config.h"
#include "preload/recorder/own_stack.h"
#include "preload/sys/hot_data.h"
#include "preload/recorder/intern.h"
#include "preload/stacks/native_stack.h"
#include "preload/sys/paths.h"
#include "preload/settings/redact.h"
#include "preload/resolve/resolve.h"
#include "preload/sys/log_once.h"
#include "preload/settings/setting.h"
#include "preload/settings/unwinder.h"
#include "preload/sys/sys.h"
#include "preload/sys/libdl.h"

#define FRAMES_MAX 64u
#define STACKS_MAX 4096u /* distinct entries of an image; powers of two */
#define OBJECTS_MAX 512u
#define SITES_MAX 4096u
#define KNOWN_MAX 4096u
#define PROBES 16u

uint64_t sp_stacks_least_ticks SP_HOT_DATA = UINT64_MAX;

enum image_state {
	IMAGE_NEW = 0, /* also in a forked child */
	IMAGE_TAKING,
	IMAGE_OFF,
};

/* Fork wipes this memory, so that a child's files define their stacks again. Ids are slots + 1. */
struct taken {
	uint32_t state; /* enum image_state */
	uint64_t stacks[STACKS_MAX];
	uint64_t objects[OBJECTS_MAX];
	uint64_t sites[SITES_MAX];
	uint32_t site_stacks[SITES_MAX]; /* ids; 0: not known yet */
	uint64_t known[KNOWN_MAX];	 /* sp_native_stack_take() */
};

static struct taken *taken;
static uint64_t least_ns[SP_CLASSES][SP_FILE_TYPES];
static __typeof__(&_dl_find_object) find_object;
/* Fork does not wipe this: a child sees that another thread was unwinding at the fork. */
static uint32_t unwinding;

#define TYPE(name) (1u << SP_FILE_##name)
#define DATA (TYPE(REGULAR) | TYPE(DIRECTORY))
#define IPC (TYPE(PIPE) | TYPE(SOCKET) | TYPE(ANON))
#define DEVICE (TYPE(CHARACTER) | TYPE(BLOCK))
#define ANY (~0u)

/* The stages that an event and the type of its file give (trace/classes.def), without imports. */
static const struct {
	const char *name;
	unsigned class, types;
} stages[] = {
	{"file_open", SP_CLASS_OPEN, ANY},
	{"file_read", SP_CLASS_READ, DATA},
	{"file_write", SP_CLASS_WRITE, DATA},
	{"file_close", SP_CLASS_CLOSE, ANY},
	{"ipc_read", SP_CLASS_READ, IPC},
	{"ipc_write", SP_CLASS_WRITE, IPC},
	{"ipc_connect", SP_CLASS_CONNECT, IPC},
	{"net_read", SP_CLASS_READ, TYPE(NET)},
	{"net_write", SP_CLASS_WRITE, TYPE(NET)},
	{"net_connect", SP_CLASS_CONNECT, TYPE(NET)},
	{"device_read", SP_CLASS_READ, DEVICE},
	{"device_write", SP_CLASS_WRITE, DEVICE | TYPE(PSEUDO)},
	{"proc_read", SP_CLASS_READ, TYPE(PSEUDO)},
	{"unknown_read", SP_CLASS_READ, TYPE(UNKNOWN)},
	{"unknown_write", SP_CLASS_WRITE, TYPE(UNKNOWN)},
	{"mmap", SP_CLASS_MAP, ANY},
	{"munmap", SP_CLASS_UNMAP, ANY},
	{"dup", SP_CLASS_DUP, ANY},
	{"wait", SP_CLASS_WAIT, ANY},
#define SP_DECODER(class, stage, title, work, inside) {#stage, SP_CLASS_##class, ANY},
#include "trace/decoders.def"
#undef SP_DECODER
	{"cuda_launch", SP_CLASS_CUDA_LAUNCH, ANY},
	{"cuda_graph_launch", SP_CLASS_CUDA_GRAPH, ANY},
	{"cuda_copy", SP_CLASS_CUDA_COPY, ANY}, /* any direction */
	{"cuda_memset", SP_CLASS_CUDA_MEMSET, ANY},
	{"cuda_sync", SP_CLASS_CUDA_SYNC, ANY},
	{"cuda_malloc", SP_CLASS_CUDA_MALLOC, ANY},
	{"cuda_free", SP_CLASS_CUDA_FREE, ANY},
	{"nccl", SP_CLASS_NCCL, ANY},
};

static int limit_set(const char *stage, size_t length, uint64_t ns)
{
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		if (strlen(stages[i].name) != length || memcmp(stages[i].name, stage, length) != 0)
			continue;
		for (unsigned type = 0; type < SP_FILE_TYPES; type++)
			if (stages[i].types & 1u << type)
				least_ns[stages[i].class][type] = ns;
		return 0;
	}
	return -EINVAL;
}

static int setting_read(const char *at)
{
	while (*at) {
		const char *stage = at;
		size_t length = strcspn(at, ">");
		uint64_t ns;

		if (!at[length])
			return -EINVAL;
		at += length + 1;
		ns = sp_setting_time(&at);
		if (!ns || (*at && *at++ != ',') || limit_set(stage, length, ns))
			return -EINVAL;
	}
	return 0;
}

static struct taken *memory_make(void)
{
	long p = SP_SYS6(SYS_mmap, 0, sizeof(*taken), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sp_sys_failed(p) || SP_SYS3(SYS_madvise, p, sizeof(*taken), MADV_WIPEONFORK)
		       ? NULL
		       : (struct taken *)p;
}

void sp_stacks_open(void)
{
	static uint32_t is_opened;
	int kept = errno;

	if (!__atomic_exchange_n(&is_opened, 1, __ATOMIC_ACQ_REL)) {
		sp_tls.suppress_depth++;
		sp_native_stack_open();
		/* From glibc 2.35 on; without it the report has addresses instead of files and
		 * offsets. */
		find_object = (__typeof__(find_object))dlsym(RTLD_DEFAULT, "_dl_find_object");
		sp_dlerror_clear();
		sp_tls.suppress_depth--;
		__atomic_store_n(&taken, memory_make(), __ATOMIC_RELEASE);
	}
	errno = kept;
}

void (*sp_stack_line_ask)(const struct sp_slow_call_metadata *call, uint32_t stack);

void sp_stacks_init(void)
{
	const char *setting = sp_config.stacks;

	memset(least_ns, 0xFF, sizeof(least_ns));
	if (!setting || !*setting)
		return;
	if (setting_read(setting) < 0) {
		sp_log_once("cannot understand STAGEPROF_STACKS", setting, 0,
			    "write stage>time, as in file_read>10ms,jpeg_decode>50ms");
		return;
	}
	sp_stacks_open();
	if (!sp_native_stack_is_open())
		sp_log_once("cannot take stacks without", "libunwind.so.8", 0,
			    "install libunwind8");
	/* The clock's rate is not known yet: the first call always reaches sp_stack_keep. */
	sp_stacks_least_ticks = 0;
}

static uint64_t ticks_of(uint64_t ns)
{
	return (uint64_t)((__uint128_t)ns * sp_recorder_clock.ticks_per_second / 1000000000u);
}

uint64_t sp_stacks_calibrate(void)
{
	uint64_t least = UINT64_MAX;

	if (sp_stacks_least_ticks)
		return sp_stacks_least_ticks;
	for (unsigned class = 0; class < SP_CLASSES; class ++)
		for (unsigned type = 0; type < SP_FILE_TYPES; type++)
			if (least_ns[class][type] < least)
				least = least_ns[class][type];
	least = ticks_of(least) | 1;
	__atomic_store_n(&sp_stacks_least_ticks, least, __ATOMIC_RELAXED);
	return least;
}

int sp_stack_is_wanted(const struct sp_slow_call_metadata *call)
{
	const struct sp_event_form form = sp_event_form(call->kind);
	unsigned type = form.arg == SP_ARG_FILE ? call->arg >> SP_FILE_TYPE_SHIFT : SP_FILE_UNKNOWN;
	uint64_t ns;

	if (form.class >= SP_CLASSES || type >= SP_FILE_TYPES)
		return 0;
	ns = least_ns[form.class][type];
	return ns != UINT64_MAX && call->ticks >= ticks_of(ns);
}

static int image_begin(void)
{
	uint32_t left = __atomic_load_n(&unwinding, __ATOMIC_ACQUIRE), state = IMAGE_NEW;
	uint32_t wanted = sp_native_stack_is_open() && !left ? IMAGE_TAKING : IMAGE_OFF;

	/* The count is read first: no thread of this image unwinds before the state is set. */
	if (!__atomic_compare_exchange_n(&taken->state, &state, wanted, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return state == IMAGE_TAKING;
	if (wanted == IMAGE_TAKING)
		sp_coverage_add("stacks", "bound", sp_native_stack_library());
	else if (!sp_native_stack_is_open())
		sp_coverage_add("stacks", "failed", "libunwind.so.8 was not found");
	else
		sp_coverage_add("stacks", "failed", "forked while another thread took a stack");
	return wanted == IMAGE_TAKING;
}

/* Returns the slot of `hash`, or -1 if the table is full; *ret_new is 1 if the hash was new. */
static int slot_of(uint64_t *table, unsigned slots, uint64_t hash, int *ret_new)
{
	hash += hash == 0;
	for (unsigned i = 0; i < PROBES; i++) {
		unsigned slot = (unsigned)(hash + i) % slots;
		uint64_t there = 0;

		*ret_new = __atomic_compare_exchange_n(&table[slot], &there, hash, 0,
						       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (*ret_new || there == hash)
			return (int)slot;
	}
	return -1;
}

/* Defines the build of the object, by which a reader finds its file. */
static void build_define(struct sp_thread *t, uint32_t object,
			 const struct sp_object_metadata *metadata)
{
	uint8_t id[SP_BUILD_ID_BYTES_MAX];
	long bytes = sp_build_id_read(metadata, id);

	if (bytes >= 0)
		sp_define(t, SP_DEFINE_BUILD, object, id, (uint32_t)bytes, NULL, 0);
}

static void object_define(struct sp_thread *t, uintptr_t address)
{
	struct dl_find_object found;
	struct sp_object_metadata metadata;
	char path[4096] = "";
	struct sp_text text = sp_text_init(path, sizeof(path));
	size_t length;
	int slot, is_new;

	if (!find_object || find_object((void *)address, &found) < 0 || !found.dlfo_link_map)
		return;
	metadata = (struct sp_object_metadata){(uintptr_t)found.dlfo_map_start,
					       (uintptr_t)found.dlfo_map_end,
					       found.dlfo_link_map->l_addr};
	slot = slot_of(taken->objects, OBJECTS_MAX, XXH64(&metadata, sizeof(metadata), 0), &is_new);
	if (slot < 0 || !is_new)
		return;
	sp_text_add(&text, found.dlfo_link_map->l_name);
	if (!path[0])
		SP_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/exe", path, sizeof(path) - 1);
	length = sp_redact(path, strlen(path));
	sp_define(t, SP_DEFINE_OBJECT, (uint32_t)slot + 1, &metadata, sizeof(metadata), path,
		  length);
	if (path[0] == '/')
		build_define(t, (uint32_t)slot + 1, &metadata);
}

/* Returns the stack's id, 0 where the table is full. */
static uint32_t stack_intern(struct sp_thread *t, const uintptr_t *frames, unsigned n)
{
	uint64_t addresses[FRAMES_MAX];
	int is_new;
	int slot =
		slot_of(taken->stacks, STACKS_MAX, XXH64(frames, n * sizeof(*frames), 0), &is_new);

	if (slot < 0 || !is_new)
		return (uint32_t)(slot + 1);
	for (unsigned i = 0; i < n; i++) {
		addresses[i] = frames[i];
		object_define(t, frames[i]);
	}
	sp_define(t, SP_DEFINE_STACK, (uint32_t)slot + 1, addresses,
		  (uint32_t)(n * sizeof(addresses[0])), NULL, 0);
	return (uint32_t)slot + 1;
}

/* The innermost frame is the caller of the hook. libunwind's own calls are not recorded. */
static unsigned stack_take(uintptr_t frames[FRAMES_MAX])
{
	unsigned long before = sp_signals_block();
	unsigned n;

	sp_tls.suppress_depth++;
	__atomic_add_fetch(&unwinding, 1, __ATOMIC_ACQ_REL);
	n = sp_native_stack_take(frames, FRAMES_MAX, taken->known, KNOWN_MAX,
				 __atomic_load_n(&sp_resolve_generation, __ATOMIC_RELAXED));
	__atomic_sub_fetch(&unwinding, 1, __ATOMIC_ACQ_REL);
	sp_tls.suppress_depth--;
	sp_signals_restore(before);
	return n;
}

/* A function of its own: its large frame is not needed while a known slot is kept. */
static __attribute__((noinline)) uint32_t stack_find(struct sp_thread *t)
{
	uintptr_t frames[FRAMES_MAX];
	unsigned n = stack_take(frames);

	return n ? stack_intern(t, frames, n) : 0;
}

/* An alternate signal stack may not have room for the frames. */
static int may_take(void)
{
	return __atomic_load_n(&taken, __ATOMIC_ACQUIRE) && !sp_is_signal_stack() && image_begin();
}

uint32_t sp_stack_take(struct sp_thread *t)
{
	return may_take() ? stack_find(t) : 0;
}

uint32_t sp_stack_take_once(struct sp_thread *t, const void *caller, const void *frame)
{
	/* After a dlclose another library may lie at this address. */
	const uintptr_t key[] = {(uintptr_t)caller, (uintptr_t)frame,
				 __atomic_load_n(&sp_resolve_generation, __ATOMIC_RELAXED)};
	uint32_t id = 0;
	int slot, is_new;

	if (!may_take())
		return 0;
	slot = slot_of(taken->sites, SITES_MAX, XXH64(key, sizeof(key), 0), &is_new);
	if (slot >= 0)
		id = __atomic_load_n(&taken->site_stacks[slot], __ATOMIC_ACQUIRE);
	if (!id)
		id = stack_find(t);
	if (slot >= 0)
		__atomic_store_n(&taken->site_stacks[slot], id, __ATOMIC_RELEASE);
	return id;
}

void sp_slow_keep(struct sp_thread *t, const struct sp_slow_call_metadata *call, uint32_t stack)
{
	sp_define(t, SP_DEFINE_SLOW, stack, call, sizeof(*call), NULL, 0);
}

void sp_stack_keep(struct sp_thread *t, uint64_t what, uint64_t start, uint64_t ticks)
{
	struct sp_slow_call_metadata call = {start, ticks, sp_commit_kind(what),
					     sp_commit_arg(what)};
	int kept = errno;

	sp_stacks_calibrate();
	if (!t->inside && !sp_tls.suppress_depth && sp_stack_is_wanted(&call)) {
		uint32_t stack = sp_stack_take(t);

		if (stack || sp_stack_line_ask)
			sp_slow_keep(t, &call, stack);
		if (sp_stack_line_ask)
			sp_stack_line_ask(&call, stack);
	}
	errno = kept;
}
