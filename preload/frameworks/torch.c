/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/torch.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "preload/settings/config.h"
#include "preload/cuda/cuda_time.h"
#include "preload/sys/host_memory.h"
#include "preload/recorder/intern.h"
#include "preload/resolve/originals.h"
#include "preload/sys/pool.h"
#include "preload/groups/group_events.h"
#include "preload/frameworks/range_stack.h"
#include "preload/frameworks/resident_memory.h"
#include "preload/recorder/switch.h"
#include "preload/waits/step_rusage.h"
#include "preload/sys/libdl.h"
#include "trace/events.h"

#define GROUP "torch-markers"
#define MARKS 4096u /* open ranges of all threads */
#define NAME_BYTES_SANE 4096u
#define NODES_STEPS 100u /* if STAGEPROF_OPS is unset */

/* at::RecordScope, ATen/record_function.h */
enum { SCOPE_FUNCTION = 0, SCOPE_BACKWARD_FUNCTION = 1, SCOPE_USER = 7, SCOPES = 10 };

/* A C++ function that returns std::unique_ptr gets the address of its result as a hidden first
 * argument, and returns it (Itanium C++ ABI 3.1.3; on x86-64 both as in C). On aarch64 the address
 * lies in x8, which C cannot name, and nothing is returned: PyTorch is given an entry that makes a
 * first argument of x8. */
#if defined(__aarch64__)
#define START(function) function##_entry
#define START_ENTRY(function)                                                                      \
	__asm__(".text\n"                                                                          \
		".type " #function "_entry, %function\n" #function "_entry:\n\t"                   \
		".cfi_startproc\n\t"                                                               \
		"mov x1, x0\n\t"                                                                   \
		"mov x0, x8\n\t"                                                                   \
		"b " #function "\n\t"                                                              \
		".cfi_endproc\n\t"                                                                 \
		".size " #function "_entry, . - " #function "_entry\n");                           \
	void **function##_entry(void **ret_context, const void *record)
#define START_CALLED __attribute__((used)) /* by its entry */
#else
#define START(function) function
#define START_ENTRY(function) _Static_assert(1, "")
#define START_CALLED
#endif
typedef void **(*start_function)(void **ret_context, const void *record);
typedef void (*end_function)(const void *record, void *context);

/* at::RecordFunctionCallback. A new scope would lie where `needs` begins: both are 0. */
struct callback {
	start_function start;
	end_function end;
	double sampling_probability;
	uint8_t scopes[SCOPES];
	uint8_t needs[3]; /* inputs, outputs, ids */
};

_Static_assert(sizeof(struct callback) == 40, "passed by value, in memory");

/* An at::ObserverContext: PyTorch destroys it through its vtable after the end callback. */
struct mark {
	const void *const *vtable;
	struct sp_range range;
	uint32_t stage; /* the result of sp_cuda_time_enter */
};

static struct mark marks[MARKS];
static uint32_t marks_next[MARKS];
static struct sp_pool marks_pool = {.count = MARKS, .next = marks_next};
static const char *(*record_name)(const void *record);
static bool (*gradients_are_on)(void); /* c10::GradMode::is_enabled() */
static int state;		       /* 0: no event seen yet, 1: as expected, -1: withdrawn */

/* For each node PyTorch demangles a name and makes a record: most of the markers' price in a small
 * step. */
static uint64_t nodes_callback; /* PyTorch's handle of it; 0: none is on */
static uint64_t nodes_steps_left;
static void (*callback_disable)(uint64_t number);
static int backward_was_called;

static void mark_give(void *self)
{
	sp_pool_give(&marks_pool, (uint32_t)((struct mark *)self - marks) + 1);
}

static void mark_leave(void *self)
{
	(void)self;
}

/* Offset to top, type, complete destructor, deleting destructor (Itanium C++ ABI 2.5.2). */
static void (*const mark_vtable[])(void *) = {NULL, NULL, mark_leave, mark_give};

/* The kernel reads the first name for us: a wrong pointer must not crash. */
static int name_is_sane(const char *name)
{
	static char copy[NAME_BYTES_SANE];
	struct iovec chunk = sp_host_memory_chunk(name, sizeof(copy));
	long got = sp_host_memory_read(copy, &chunk, 1);

	if (!name || got == -EFAULT)
		return 0;
	for (long i = 0; i < got && copy[i]; i++)
		if ((unsigned char)copy[i] < ' ')
			return 0;
	return 1;
}

static int first_event(const void *record)
{
	int kept = errno, sane = name_is_sane(record_name(record));

	__atomic_store_n(&state, sane ? 1 : -1, __ATOMIC_RELEASE);
	if (!sane)
		sp_coverage_add(GROUP, "failed", "the first marker was not understood");
	errno = kept;
	return sane;
}

START_ENTRY(range_start);
START_CALLED static void **range_start(void **ret_context, const void *record)
{
	int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	struct mark *mark = NULL;
	uint32_t number = 0;

	if (__builtin_expect(now > 0, 1) || (now == 0 && first_event(record)))
		number = sp_pool_take(&marks_pool);
	if (number) {
		mark = &marks[number - 1];
		mark->vtable = (const void *const *)(const void *)&mark_vtable[2];
		mark->range = sp_range_begin();
	}
	*ret_context = mark;
	return ret_context;
}

static uint32_t phase_of(const char *name)
{
	if (strncmp(name, "Optimizer.step#", 15) == 0)
		return SP_PHASE_optimizer;
	if (strncmp(name, "Optimizer.zero_grad#", 20) == 0)
		return SP_PHASE_zero_grad;
	return strncmp(name, "enumerate(DataLoader)#", 22) == 0 ? SP_PHASE_loader_next
								: SP_PHASE_none;
}

START_ENTRY(user_start);
START_CALLED static void **user_start(void **ret_context, const void *record)
{
	struct mark *mark;

	range_start(ret_context, record);
	mark = (struct mark *)*ret_context;
	if (mark)
		mark->stage = sp_cuda_time_enter(phase_of(record_name(record)));
	return ret_context;
}

static void range_end(const void *record, const struct mark *mark, uint32_t kind)
{
	const char *name;

	if (!mark || !mark->range.image)
		return;
	name = record_name(record);
	sp_range_end(mark->range, kind, 0, name, strlen(name));
}

void sp_torch_backward_called(void)
{
	__atomic_store_n(&backward_was_called, 1, __ATOMIC_RELAXED);
}

int sp_torch_has_gradients(void)
{
	return !gradients_are_on || gradients_are_on();
}

void sp_torch_compiled(void)
{
	static uint64_t reported;

	if (sp_coverage_is_new(&reported))
		sp_coverage_add("torch-compile", "unobservable",
				"what torch.compile made a graph of has no labels, modules and "
				"wrapped calls inside");
}

/* Steps whose backward is not a wrapped call are reported by their nodes: those go on. */
static void nodes_step(void)
{
	uint64_t callback = __atomic_load_n(&nodes_callback, __ATOMIC_RELAXED);

	if (!callback || sp_switch_is_off() ||
	    !__atomic_exchange_n(&backward_was_called, 0, __ATOMIC_RELAXED) ||
	    __atomic_sub_fetch(&nodes_steps_left, 1, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&nodes_callback, 0, __ATOMIC_RELAXED);
	callback_disable(callback);
	sp_coverage_add("torch-nodes", "bound", "in the first steps only");
}

static void user_end(const void *record, void *context)
{
	if (context)
		sp_cuda_time_leave(((struct mark *)context)->stage);
	range_end(record, context, SP_EV_torch_range);
	if (phase_of(record_name(record)) == SP_PHASE_optimizer) {
		sp_switch_step();
		nodes_step();
		sp_rusage_define_step();
		sp_resident_sample();
	}
}

static void backward_end(const void *record, void *context)
{
	range_end(record, context, SP_EV_torch_backward);
	sp_switch_backward();
}

static void operator_end(const void *record, void *context)
{
	range_end(record, context, SP_EV_torch_op);
}

/* The loaded library, in any folder and with any version suffix. */
static int library_match(struct dl_phdr_info *info, size_t size, void *ret)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	name = name ? name + 1 : info->dlpi_name;
	if (strncmp(name, "libtorch_cpu.so", 15) != 0)
		return 0;
	*(const char **)ret = info->dlpi_name;
	return 1;
}

/* 1.13 is the oldest version whose structures were compared; 3 is unknown. */
static int version_is_known(const char *version)
{
	char *end;
	long major = strtol(version, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	return major == 2 || (major == 1 && minor >= 13);
}

/* Operators lie inside nodes: if they are wanted, all nodes are kept. */
static void nodes_add(void *library, uint64_t (*add)(struct callback))
{
	struct callback callback = {.start = START(range_start),
				    .end = backward_end,
				    .sampling_probability = 1.0};
	int all = sp_config_is(sp_config.ops, "nodes") || sp_config_is(sp_config.ops, "1");
	uint64_t number;

	if (sp_config_is(sp_config.ops, "0"))
		return;
	callback.scopes[SCOPE_BACKWARD_FUNCTION] = 1;
	number = add(callback);
	callback_disable = (void (*)(uint64_t))dlsym(library, "_ZN2at15disableCallbackEm");
	if (all || !callback_disable)
		return;
	nodes_steps_left = NODES_STEPS;
	__atomic_store_n(&nodes_callback, number, __ATOMIC_RELAXED);
}

static int callbacks_add(void *library)
{
	uint64_t (*add)(struct callback);
	struct callback callback = {.start = START(range_start), .sampling_probability = 1.0};

	add = (uint64_t(*)(struct callback))dlsym(library, "_ZN2at17addGlobalCallbackENS_"
							   "22RecordFunctionCallbackE");
	record_name = (const char *(*)(const void *))dlsym(library, "_ZNK2at14RecordFunction4nameE"
								    "v");
	if (!add || !record_name)
		return -ENOSYS;
	callback.start = START(user_start);
	callback.end = user_end;
	callback.scopes[SCOPE_USER] = 1;
	add(callback);
	nodes_add(library, add);
	if (sp_config_is(sp_config.ops, "1")) {
		callback.start = START(range_start);
		callback.end = operator_end;
		callback.scopes[SCOPE_USER] = 0;
		callback.scopes[SCOPE_FUNCTION] = 1;
		add(callback);
	}
	return 0;
}

int sp_torch_attach(const char *version)
{
	const char *path = NULL;
	void *library;
	int error;

	if (!version_is_known(version)) {
		sp_coverage_add(GROUP, "unobservable", version);
		return 0;
	}
	dl_iterate_phdr(library_match, &path);
	library = path ? sp_dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (!library) {
		sp_coverage_add(GROUP, "absent", "libtorch_cpu is not loaded");
		return 0;
	}
	gradients_are_on = (bool (*)(void))dlsym(library, "_ZN3c108GradMode10is_enabledEv");
	sp_collectives_attach(library);
	error = callbacks_add(library);
	SP_REAL(dlclose)(library);
	sp_coverage_add(GROUP, error ? "failed" : "bound", version);
	return !error;
}
