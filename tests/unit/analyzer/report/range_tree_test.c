/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of ranges from made traces: one tick is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { OUTER = 1, INNER, LEAF };

static char folder[64];
static struct sp_maker m;
static struct sp_load load;
static struct sp_range_tree tree;

static void begin(uint32_t tid)
{
	sp_maker_init(&m, 10, tid, 0);
	sp_maker_header(&m);
	sp_maker_define(&m, SP_DEFINE_NAME, OUTER, "outer", 5);
	sp_maker_define(&m, SP_DEFINE_NAME, INNER, "inner", 5);
	sp_maker_define(&m, SP_DEFINE_NAME, LEAF, "leaf", 4);
}

static void end(const char *name)
{
	sp_maker_put(&m, folder, name);
}

static void read_tree(enum sp_range_choice choice)
{
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_ranges_read(&(struct sp_range_request){&tree, choice}, 1,
					&load.report.training),
			 0);
}

static void setup(void)
{
	sp_folder_make(folder);
	begin(10);
}

static void teardown(void)
{
	sp_ranges_finish(&tree);
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

static void leaf(uint64_t ns)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += ns;
	sp_maker_around(&m, SP_EV_torch_range, LEAF, start, 0);
}

/* outer 1000 + n * 100 { inner n * 100 { leaf 30 } ... } */
static void nest(int n)
{
	uint64_t start = m.now_ticks;

	for (int i = 0; i < n; i++) {
		uint64_t inner = m.now_ticks;

		leaf(30);
		m.now_ticks += 70;
		sp_maker_around(&m, SP_EV_python_call, INNER, inner, SP_PHASE_function);
	}
	m.now_ticks += 1000;
	sp_maker_around(&m, SP_EV_torch_range, OUTER, start, 0);
}

static const struct sp_range_node *child(const struct sp_range_node *parent, const char *name)
{
	for (uint32_t i = parent->child; i; i = tree.nodes[i].sibling) {
		size_t bytes;

		if (!strcmp(sp_string_table_text(&load.report.run.metadata.labels,
						 tree.nodes[i].label, &bytes),
			    name))
			return &tree.nodes[i];
	}
	ck_abort_msg("no such range");
}

START_TEST(ranges_lie_in_each_other)
{
	const struct sp_range_node *outer, *inner, *leaves;

	nest(2);
	nest(3);
	leaf(40);
	end("a.zst");
	read_tree(SP_RANGES_ALL);
	outer = child(&tree.nodes[0], "outer");
	inner = child(outer, "inner");
	leaves = child(inner, "leaf");
	ck_assert_uint_eq(outer->calls, 2);
	ck_assert_uint_eq(outer->total_ns, 2500);
	ck_assert_uint_eq(outer->inside_ns, 500);
	ck_assert_uint_eq(outer->max_ns, 1300);
	ck_assert_uint_eq(inner->calls, 5);
	ck_assert_uint_eq(inner->inside_ns, 150);
	ck_assert_uint_eq(leaves->calls, 5);
	ck_assert_uint_eq(leaves->total_ns, 150);
	ck_assert_uint_eq(child(&tree.nodes[0], "leaf")->total_ns, 40);
	ck_assert_uint_eq(tree.nodes[0].inside_ns, 2540);
	ck_assert(!tree.was_cut);
}
END_TEST

START_TEST(threads_add_up)
{
	nest(2);
	end("a.zst");
	begin(11);
	nest(2);
	leaf(5);
	end("b.zst");
	read_tree(SP_RANGES_ALL);
	ck_assert_uint_eq(child(&tree.nodes[0], "outer")->calls, 2);
	ck_assert_uint_eq(child(child(&tree.nodes[0], "outer"), "inner")->calls, 4);
	ck_assert_uint_eq(child(&tree.nodes[0], "leaf")->calls, 1);
}
END_TEST

/* As deep as a hostile trace likes. */
START_TEST(depth_is_bounded)
{
	for (int run = 0; run < 2; run++) {
		uint64_t start = m.now_ticks + 200000;

		m.now_ticks = start;
		for (int i = 0; i < 100000; i++) {
			m.now_ticks++;
			start--;
			sp_maker_around(&m, SP_EV_torch_range, OUTER, start, 0);
		}
	}
	end("a.zst");
	read_tree(SP_RANGES_ALL);
	ck_assert(tree.was_cut);
	ck_assert_uint_eq(child(&tree.nodes[0], "outer")->calls, 2);
	ck_assert_uint_le(tree.nodes[tree.nodes[0].child].depth, RANGES_DEPTH_MAX);
}
END_TEST

START_TEST(other_events_leave_no_mark)
{
	uint64_t start = m.now_ticks;

	sp_maker_event(&m, SP_EV_torch_op, LEAF, 50, 0);
	leaf(20);
	sp_maker_event(&m, SP_EV_read, 0, 50, 1);
	sp_maker_around(&m, SP_EV_torch_op, OUTER, start, 0);
	end("a.zst");
	read_tree(SP_RANGES_OPS);
	ck_assert_uint_eq(child(&tree.nodes[0], "outer")->inside_ns, 50);
	ck_assert_uint_eq(child(child(&tree.nodes[0], "outer"), "leaf")->calls, 1);
}
END_TEST

/* With a device, the nodes run on a thread of their own while the caller waits. */
START_TEST(backward_on_a_thread_of_its_own)
{
	const struct sp_range_node *outer, *backward, *node;
	uint64_t start = m.now_ticks;

	m.now_ticks += 5000;
	sp_maker_around(&m, SP_EV_python_call, INNER, start, SP_PHASE_backward);
	sp_maker_around(&m, SP_EV_torch_range, OUTER, start, 0);
	leaf(30);
	end("a.zst");
	begin(11);
	for (int i = 0; i < 4; i++) {
		start = m.now_ticks;
		m.now_ticks += 700;
		sp_maker_around(&m, SP_EV_torch_backward, LEAF, start, 0);
	}
	end("b.zst");
	read_tree(SP_RANGES_ALL);
	outer = child(&tree.nodes[0], "outer");
	backward = child(outer, "inner");
	node = child(backward, "leaf");
	ck_assert_uint_eq(node->calls, 4);
	ck_assert_uint_eq(node->total_ns, 2800);
	ck_assert_uint_eq(backward->inside_ns, 2800);
	ck_assert_uint_eq(child(&tree.nodes[0], "leaf")->total_ns, 30);
	ck_assert_uint_eq(tree.nodes[0].inside_ns, 5000 + 30);
}
END_TEST

static void module(uint32_t label, uint64_t start)
{
	sp_maker_around(&m, SP_EV_module_forward, label, start, 0);
}

/* One pass through a model: its block twice. */
static void forward(uint64_t block_ns)
{
	uint64_t start = m.now_ticks;

	for (int i = 0; i < 2; i++) {
		uint64_t inner = m.now_ticks;

		m.now_ticks += block_ns;
		module(INNER, inner);
	}
	m.now_ticks += 5;
	module(OUTER, start);
}

START_TEST(first_iteration_is_apart)
{
	const struct sp_range_node *model, *block;

	forward(9000);
	forward(100);
	forward(102);
	end("a.zst");
	begin(11);
	forward(7000);
	forward(104);
	end("b.zst");
	read_tree(SP_RANGES_MODULES);
	model = child(&tree.nodes[0], "outer");
	block = child(model, "inner");
	ck_assert_uint_eq(model->first_calls, 2);
	ck_assert_uint_eq(model->first_ns, 18005 + 14005);
	ck_assert_uint_eq(block->first_calls, 4);
	ck_assert_uint_eq(block->first_ns, 2 * 9000 + 2 * 7000);
	ck_assert_uint_eq(block->calls, 10);
	ck_assert_uint_eq(block->total_ns - block->first_ns, 2 * (100 + 102 + 104));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranges");
	TCase *c = tcase_create("ranges");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, ranges_lie_in_each_other);
	tcase_add_test(c, threads_add_up);
	tcase_add_test(c, depth_is_bounded);
	tcase_add_test(c, other_events_leave_no_mark);
	tcase_add_test(c, backward_on_a_thread_of_its_own);
	tcase_add_test(c, first_iteration_is_apart);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
