/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/groups/group_events.h"

#include <dlfcn.h>
#include <errno.h>

#include "preload/blocks/publish.h"
#include "preload/recorder/recorder.h"
#include "trace/events.h"

#define GROUP_ARG(group) (uint32_t)((uintptr_t)(group) >> 8)

/* Functions of PyTorch's C interface, which keep their form (torch/csrc/inductor/aoti_torch/c/
 * shim.h, since 2.1): a tensor's handle is the address of an at::Tensor; 0: the result is set. */
typedef int32_t get_number(const void *tensor, int64_t *ret);
typedef int32_t get_type(const void *tensor, int32_t *ret);

static get_number *elements_of;
static get_type *type_of;

void sp_collectives_attach(void *libtorch)
{
	type_of = (get_type *)dlsym(libtorch, "aoti_torch_get_dtype");
	__atomic_store_n(&elements_of, (get_number *)dlsym(libtorch, "aoti_torch_get_numel"),
			 __ATOMIC_RELEASE);
}

struct sp_recorder *sp_collective_begins(enum sp_collective operation, const void *group,
					 const void *tensor)
{
	get_number *elements = __atomic_load_n(&elements_of, __ATOMIC_ACQUIRE);
	int kept = errno;
	struct sp_thread *t = sp_enter();
	int64_t number = -1;
	int32_t type = SP_ELEMENT_UNKNOWN;

	if (!t || sp_recorder_of(t)->hands_over)
		return NULL;
	if (tensor && elements && elements(tensor, &number))
		number = -1;
	if (tensor && elements && type_of && type_of(tensor, &type))
		type = SP_ELEMENT_UNKNOWN;
	sp_collective_enqueued(t, operation, group, number, (uint8_t)type);
	sp_recorder_of(t)->hands_over = true;
	errno = kept;
	return sp_recorder_of(t);
}

void sp_collective_handed(struct sp_recorder **r)
{
	if (*r)
		(*r)->hands_over = false;
}

static void emit(struct sp_thread *t, const void *group, uint64_t what, int64_t elements)
{
	uint64_t words[3] = {what, 0, 0};

	sp_emit_extra(t, SP_EV_collective, GROUP_ARG(group), sp_clock_ticks(), 0, elements, words);
}

void sp_collective_enqueued(struct sp_thread *t, enum sp_collective operation, const void *group,
			    int64_t elements, uint32_t type)
{
	emit(t, group, (uint64_t)operation | (uint64_t)type << 8, elements);
}

void sp_collective_refused(struct sp_thread *t, const void *group)
{
	emit(t, group, 0, 0);
}

void sp_collective_group(const struct sp_group_made *made)
{
	struct sp_thread *t = sp_enter();
	uint64_t words[3] = {made->rank | (uint64_t)made->origin << 32, made->which, 0};

	if (t)
		sp_emit_extra(t, SP_EV_collective_group, GROUP_ARG(made->group), sp_clock_ticks(),
			      0, made->size, words);
}
