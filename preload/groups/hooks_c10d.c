/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's process groups over gloo: what a process hands to each group, in its order, when it is
 * handed over. A call that never ends is recorded, too. The names are those that libtorch_cpu
 * exports, called through the linkage table and from the virtual table; the arguments of all lie in
 * registers for integers, or else on the stack, a returned intrusive_ptr is a hidden first
 * argument and the result (Itanium C++ ABI 3.1.3). Prototypes: ProcessGroupGloo.hpp, 1.13 to 2.13.
 * Sends and receives are no collectives: their order over ranks is free.
 */
#include "preload/groups/group_events.h"

#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"
#include "trace/collectives.h"
#include "trace/events.h"

#if defined(__x86_64__)

/* An at::Tensor is one pointer; a std::vector begins with the addresses of its first element and of
 * the end. */
struct vector {
	const void *begin, *end;
};

static const void *first_of(const struct vector *tensors)
{
	return tensors->begin != tensors->end ? tensors->begin : NULL;
}

/* The virtual table lies in the library of the group's class. An exception passes through, and runs
 * the cleanup. */
#define COLLECTIVE(name, operation, tensor, parameters, arguments)                                 \
	SP_HOOK(void *, name, SP_UNPACK parameters)                                                \
	{                                                                                          \
		__typeof__(&name) real =                                                           \
			SP_ORIGINAL_FOR_CALLER(name, "_ZN4c10d", *(const void *const *)group);     \
                                                                                                   \
		struct sp_recorder *inside __attribute__((cleanup(sp_collective_handed))) =        \
			sp_collective_begins(SP_COLLECTIVE_##operation, group, tensor);            \
                                                                                                   \
		return real arguments;                                                             \
	}

#define IN_PLACE(name, operation)                                                                  \
	COLLECTIVE(name, operation, first_of(tensors),                                             \
		   (void *ret, const void *group, const struct vector *tensors, void *options),    \
		   (ret, group, tensors, options))
#define FROM_INPUT(name, operation)                                                                \
	COLLECTIVE(name, operation, first_of(input),                                               \
		   (void *ret, const void *group, void *output, const struct vector *input,        \
		    void *options),                                                                \
		   (ret, group, output, input, options))
#define BY_OUTPUT(name, operation)                                                                 \
	COLLECTIVE(name, operation, first_of(output),                                              \
		   (void *ret, const void *group, const struct vector *output, void *input,        \
		    void *options),                                                                \
		   (ret, group, output, input, options))

IN_PLACE(
	_ZN4c10d16ProcessGroupGloo9broadcastERSt6vectorIN2at6TensorESaIS3_EERKNS_16BroadcastOptionsE,
	broadcast)
IN_PLACE(
	_ZN4c10d16ProcessGroupGloo9allreduceERSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE,
	all_reduce)
IN_PLACE(
	_ZN4c10d16ProcessGroupGloo16allreduce_sparseERSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE,
	all_reduce)
IN_PLACE(
	_ZN4c10d16ProcessGroupGloo19allreduce_coalescedERSt6vectorIN2at6TensorESaIS3_EERKNS_25AllreduceCoalescedOptionsE,
	all_reduce)
IN_PLACE(_ZN4c10d16ProcessGroupGloo6reduceERSt6vectorIN2at6TensorESaIS3_EERKNS_13ReduceOptionsE,
	 reduce)
FROM_INPUT(
	_ZN4c10d16ProcessGroupGloo9allgatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE,
	all_gather)
FROM_INPUT(
	_ZN4c10d16ProcessGroupGloo19allgather_coalescedERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE,
	all_gather)
FROM_INPUT(
	_ZN4c10d16ProcessGroupGloo31allgather_into_tensor_coalescedERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_16AllgatherOptionsE,
	all_gather)
FROM_INPUT(
	_ZN4c10d16ProcessGroupGloo6gatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_13GatherOptionsE,
	gather)
BY_OUTPUT(
	_ZN4c10d16ProcessGroupGloo7scatterERSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_14ScatterOptionsE,
	scatter)
BY_OUTPUT(
	_ZN4c10d16ProcessGroupGloo14reduce_scatterERSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_20ReduceScatterOptionsE,
	reduce_scatter)
BY_OUTPUT(
	_ZN4c10d16ProcessGroupGloo31reduce_scatter_tensor_coalescedERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_20ReduceScatterOptionsE,
	reduce_scatter)
FROM_INPUT(
	_ZN4c10d16ProcessGroupGloo8alltoallERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_15AllToAllOptionsE,
	all_to_all)
COLLECTIVE(_ZN4c10d16ProcessGroupGloo15_allgather_baseERN2at6TensorES3_RKNS_16AllgatherOptionsE,
	   all_gather, input,
	   (void *ret, const void *group, void *output, void *input, void *options),
	   (ret, group, output, input, options))
COLLECTIVE(
	_ZN4c10d16ProcessGroupGloo20_reduce_scatter_baseERN2at6TensorES3_RKNS_20ReduceScatterOptionsE,
	reduce_scatter, output,
	(void *ret, const void *group, void *output, void *input, void *options),
	(ret, group, output, input, options))
COLLECTIVE(
	_ZN4c10d16ProcessGroupGloo13alltoall_baseERN2at6TensorES3_RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE,
	all_to_all, input,
	(void *ret, const void *group, void *output, void *input, void *output_splits,
	 void *input_splits, void *options),
	(ret, group, output, input, output_splits, input_splits, options))
COLLECTIVE(_ZN4c10d16ProcessGroupGloo7barrierERKNS_14BarrierOptionsE, barrier, NULL,
	   (void *ret, const void *group, void *options), (ret, group, options))

/* A group is made once its ranks have met. */
#define GROUP_MADE(name)                                                                           \
	SP_HOOK(void, name, void *group, void *store, int rank, int size, void *options)           \
	{                                                                                          \
		__typeof__(&name) real = SP_ORIGINAL_FOR_CALLER(name, "_ZN4c10d", NULL);           \
                                                                                                   \
		real(group, store, rank, size, options);                                           \
		sp_collective_group(&(struct sp_group_made){.group = group,                        \
							    .rank = (uint32_t)rank,                \
							    .size = (uint32_t)size});              \
	}

GROUP_MADE(
	_ZN4c10d16ProcessGroupGlooC1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE)

#endif
