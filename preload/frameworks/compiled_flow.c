/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/compiled_flow.h"

#include "preload/interpreter/python_api.h"

static int has_one_of(const struct sp_flow_call *call, struct sp_py_object *const *args,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned j = 0; j < call->count; j++)
			if (args[i] == call->objects[j] && args[i] != sp_python._Py_NoneStruct)
				return 1;
	return 0;
}

/* A subclass of tuple may be read only through functions of its own. */
static int is_tuple(const struct sp_py_object *object)
{
	static const struct sp_py_object *type;
	struct sp_py_object *empty = type ? NULL : sp_python.PyTuple_New(0);

	if (empty) {
		type = empty->type;
		sp_python.Py_DecRef(empty);
	}
	return object->type == type;
}

static void take_objects(struct sp_flow_call *call, enum sp_flow_role *role,
			 struct sp_py_object *result)
{
	ptrdiff_t items = is_tuple(result) ? sp_python.PyTuple_Size(result) : 0;

	call->role = role;
	call->objects[0] = result;
	call->count = 1;
	for (ptrdiff_t i = 0; i < items && call->count < SP_FLOW_OBJECTS; i++)
		call->objects[call->count++] = sp_python.PyTuple_GetItem(result, i);
}

int sp_flow_begin(struct sp_flow *flow, enum sp_flow_role *role, int takes_gradients,
		  struct sp_py_object *const *args, size_t count)
{
	int is_fed =
		*role == SP_FLOW_UNKNOWN && flow->gave.role && has_one_of(&flow->gave, args, count);

	if (*role != SP_FLOW_UNKNOWN || !takes_gradients || flow->gave.role != role)
		return is_fed;
	if (is_fed) {
		*role = SP_FLOW_WHOLE;
	} else if (flow->applied.role && has_one_of(&flow->applied, args, count)) {
		*role = SP_FLOW_GRADIENTS;
		*flow->applied.role = SP_FLOW_APPLIES;
	}
	return is_fed;
}

void sp_flow_end(struct sp_flow *flow, enum sp_flow_role *role, int takes_gradients, int is_fed,
		 struct sp_py_object *result)
{
	if (takes_gradients) {
		flow->gave.role = NULL;
		if (*role == SP_FLOW_UNKNOWN)
			take_objects(&flow->gave, role, result);
	} else if (is_fed && *role == SP_FLOW_UNKNOWN) {
		take_objects(&flow->applied, role, result);
	}
}
