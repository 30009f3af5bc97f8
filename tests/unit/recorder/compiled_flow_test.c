/* SPDX-License-Identifier: Apache-2.0 */
/* Two compiled functions that make a step together, by the objects that go between their calls. */
#include <check.h>
#include <stdlib.h>

#include "preload/frameworks/compiled_flow.h"
#include "preload/interpreter/python_api.h"
#include "tests/unit/common/suite.h"

struct sp_python sp_python;

/* Tuples of two items; any other object is of no type. */
struct pair {
	struct sp_py_object head;
	struct sp_py_object *items[2];
};

static struct sp_py_object tuple_type, none, state[4], gradients[4], loss[4];
static struct pair empty = {.head.type = &tuple_type};

static struct sp_py_object *tuple_new(ptrdiff_t count)
{
	(void)count;
	return &empty.head;
}

static ptrdiff_t tuple_size(struct sp_py_object *tuple)
{
	(void)tuple;
	return 2;
}

static struct sp_py_object *tuple_item(struct sp_py_object *tuple, ptrdiff_t at)
{
	return ((struct pair *)tuple)->items[at];
}

static void released(struct sp_py_object *object)
{
	(void)object;
}

static void set_up(void)
{
	sp_python.PyTuple_New = tuple_new;
	sp_python.PyTuple_Size = tuple_size;
	sp_python.PyTuple_GetItem = tuple_item;
	sp_python.Py_DecRef = released;
	sp_python._Py_NoneStruct = &none;
}

static void called(struct sp_flow *flow, enum sp_flow_role *role, int takes_gradients,
		   struct sp_py_object *argument, struct sp_py_object *result)
{
	struct sp_py_object *args[2] = {argument, &none};
	int is_fed = sp_flow_begin(flow, role, takes_gradients, args, 2);

	sp_flow_end(flow, role, takes_gradients, is_fed, result);
}

/* g, loss = gradients_of(state); state = apply(g); after that an evaluation of gradients_of. */
START_TEST(two_functions)
{
	struct sp_flow flow = {.gave = {.count = 0}};
	enum sp_flow_role gives = SP_FLOW_UNKNOWN, applies = SP_FLOW_UNKNOWN;
	struct pair result = {{.type = &tuple_type}, {&gradients[0], &loss[0]}};

	called(&flow, &gives, 1, &state[0], &result.head);
	called(&flow, &applies, 0, &gradients[0], &state[1]);
	ck_assert_int_eq(gives, SP_FLOW_UNKNOWN);
	called(&flow, &gives, 1, &state[1], &result.head);
	ck_assert_int_eq(gives, SP_FLOW_GRADIENTS);
	ck_assert_int_eq(applies, SP_FLOW_APPLIES);
	called(&flow, &gives, 1, &state[1], &result.head);
	ck_assert_int_eq(gives, SP_FLOW_GRADIENTS);
}
END_TEST

/* state, loss = update(state), and after each average(state) or accuracy(state). */
START_TEST(a_whole_step_that_others_look_at)
{
	struct sp_flow flow = {.gave = {.count = 0}};
	enum sp_flow_role whole = SP_FLOW_UNKNOWN, looks = SP_FLOW_UNKNOWN;

	for (int i = 0; i < 3; i++) {
		struct pair result = {{.type = &tuple_type}, {&state[i + 1], &loss[i]}};

		called(&flow, &whole, 1, &state[i], &result.head);
		called(&flow, &looks, 0, &state[i + 1], &gradients[i]);
	}
	ck_assert_int_eq(whole, SP_FLOW_WHOLE);
	ck_assert_int_eq(looks, SP_FLOW_UNKNOWN);
}
END_TEST

/* Functions that change their arguments return None each time. */
START_TEST(nothing_returned)
{
	struct sp_flow flow = {.gave = {.count = 0}};
	enum sp_flow_role changes = SP_FLOW_UNKNOWN, looks = SP_FLOW_UNKNOWN;

	for (int i = 0; i < 3; i++) {
		called(&flow, &changes, 1, &state[0], &none);
		called(&flow, &looks, 0, &state[0], &none);
	}
	ck_assert_int_eq(changes, SP_FLOW_UNKNOWN);
	ck_assert_int_eq(looks, SP_FLOW_UNKNOWN);
}
END_TEST

/* A training and an evaluation that share what they look at, and two pairs one after another. */
START_TEST(a_second_pair)
{
	struct sp_flow flow = {.gave = {.count = 0}};
	enum sp_flow_role of[4] = {SP_FLOW_UNKNOWN};

	for (int pair = 0; pair < 4; pair += 2)
		for (int i = 0; i < 2; i++) {
			called(&flow, &of[pair], 1, &state[i], &gradients[i]);
			called(&flow, &of[pair + 1], 0, &gradients[i], &state[i + 1]);
		}
	for (int pair = 0; pair < 4; pair += 2) {
		ck_assert_int_eq(of[pair], SP_FLOW_GRADIENTS);
		ck_assert_int_eq(of[pair + 1], SP_FLOW_APPLIES);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compiled_flow");
	TCase *cases = tcase_create("flow");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, two_functions);
	tcase_add_test(cases, a_whole_step_that_others_look_at);
	tcase_add_test(cases, nothing_returned);
	tcase_add_test(cases, a_second_pair);
	suite_add_tcase(suite, cases);
	return sp_suite_run(suite);
}
