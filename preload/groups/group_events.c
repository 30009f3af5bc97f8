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
	uint64_t words[3];

	if (!t || sp_recorder_of(t)->hands_over)
		return NULL;
	if (tensor && elements && elements(tensor, &number))
		number = -1;
	if (tensor && elements && type_of && type_of(tensor, &type))
		type = SP_ELEMENT_UNKNOWN;
	words[0] = (uint64_t)operation | (uint64_t)(uint8_t)type << 8;
	words[1] = words[2] = 0;
	sp_emit_extra(t, SP_EV_collective, GROUP_ARG(group), sp_clock_ticks(), 0, number, words);
	sp_recorder_of(t)->hands_over = true;
	errno = kept;
	return sp_recorder_of(t);
}

void sp_collective_handed(struct sp_recorder **r)
{
	if (*r)
		(*r)->hands_over = false;
}

void sp_collective_group(const void *group, uint32_t rank, uint32_t size)
{
	struct sp_thread *t = sp_enter();
	uint64_t words[3] = {rank, 0, 0};

	if (t)
		sp_emit_extra(t, SP_EV_collective_group, GROUP_ARG(group), sp_clock_ticks(), 0,
			      size, words);
}
