/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the victims of this folder without and with the preload; their output must not differ, and
 * the trace must say what they did.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/slots.h"
#include "trace/format.h"

static char folder[] = "/tmp/stageprof-hooks-XXXXXX";
static const char *library, *victims;

static void folder_make(void)
{
	library = getenv("STAGEPROF_TEST_LIB");
	victims = getenv("STAGEPROF_TEST_HOOKS");
	ck_assert_msg(library && victims, "STAGEPROF_TEST_LIB and STAGEPROF_TEST_HOOKS are not "
					  "set");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void folder_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Runs the victim and returns its output; its exit status must be 0. `environment`: assignments, ""
 * for none. */
static void victim_run(const char *environment, const char *arguments, char *ret, size_t bytes)
{
	char command[1024];
	FILE *out;
	size_t n;

	snprintf(command, sizeof(command), "cd %s && env %s %s/%s", folder, environment, victims,
		 arguments);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	n = fread(ret, 1, bytes - 1, out);
	ret[n] = 0;
	ck_assert_int_eq(pclose(out), 0);
}

static void victim_trace(const char *settings, const char *arguments, char *ret, size_t bytes)
{
	char environment[512];

	snprintf(environment, sizeof(environment), "LD_PRELOAD=%s %s", library, settings);
	victim_run(environment, arguments, ret, bytes);
}

static struct slots_count trace_read(slots_definition *each, void *argument)
{
	char run[64];
	struct slots_count count;

	snprintf(run, sizeof(run), "%s/run.zst", folder);
	ck_assert_int_eq(slots_read_directory(run, &count, each, argument), 0);
	ck_assert_uint_eq(count.lost, 0);
	return count;
}

static const struct {
	const char *mode, *markers;
} foreign[] = {
	{"jumps", "ababab"},	   {"jump_nameless", "a"}, {"late_global", "a"},
	{"late_global_lazy", "c"}, {"by_version", "1"},	   {"pointer", "b"},
};

START_TEST(originals_are_the_callers)
{
	char arguments[512], plain[64], traced[64];

	snprintf(arguments, sizeof(arguments), "foreign %s %s", victims, foreign[_i].mode);
	victim_run("", arguments, plain, sizeof(plain));
	victim_trace("", arguments, traced, sizeof(traced));
	ck_assert_str_eq(plain, foreign[_i].markers);
	ck_assert_str_eq(traced, plain);
}
END_TEST

#ifdef HOOKS_UNWINDING
START_TEST(cancellation_and_exceptions)
{
	char plain[512], traced[512];
	struct slots_count count;

	victim_run("", "unwinding", plain, sizeof(plain));
	victim_trace("", "unwinding", traced, sizeof(traced));
	ck_assert_str_eq(traced, plain);
	ck_assert_ptr_nonnull(strstr(plain, "left condition\ncancelled\nleft fread\ncaught 42\n"));
	count = trace_read(NULL, NULL);
	ck_assert_uint_eq(count.abandoned, 5);
}
END_TEST
#endif

/* Each blocked call is its parent's, a poll of 20 ms its child's own. */
START_TEST(forks_in_handlers)
{
	char plain[64], traced[64];
	struct slots_count count;

	victim_run("", "handler_forks", plain, sizeof(plain));
	victim_trace("", "handler_forks", traced, sizeof(traced));
	ck_assert_str_eq(plain, "child 7\nchild 7\n");
	ck_assert_str_eq(traced, plain);
	count = trace_read(NULL, NULL);
	ck_assert_uint_eq(count.streams, 3);
	ck_assert_uint_ge(count.events,
			  6); /* two forks, two calls cut short, two polls of children */
}
END_TEST

struct stacks {
	uint64_t inner, outer_one, outer_two;
	uint64_t frames[64][64];
	uint32_t depth[64], ids[64], known;
	uint32_t slow[64], slows;
	int objects, in_objects, bound;
};

/* Finds the function that begins nearest before the address. */
static uint64_t function_of(const struct stacks *s, uint64_t address)
{
	const uint64_t starts[3] = {s->inner, s->outer_one, s->outer_two};
	uint64_t nearest = 0;

	for (int i = 0; i < 3; i++)
		if (starts[i] < address && starts[i] > nearest)
			nearest = starts[i];
	return nearest;
}

static void stack_note(void *argument, uint32_t which, uint32_t id, const uint8_t *blob,
		       uint32_t bytes)
{
	struct stacks *s = argument;

	if (which == SP_DEFINE_STACK && s->known < 64) {
		s->ids[s->known] = id;
		s->depth[s->known] = bytes / 8;
		memcpy(s->frames[s->known++], blob, bytes);
	} else if (which == SP_DEFINE_SLOW && s->slows < 64) {
		const struct sp_slow_call_metadata *call = (const void *)blob;

		ck_assert_uint_eq(bytes, sizeof(*call));
		s->slow[s->slows++] = id;
	} else if (which == SP_DEFINE_OBJECT) {
		const struct sp_object_metadata *object = (const void *)blob;

		s->objects++;
		s->in_objects +=
			s->inner >= object->begin && s->inner < object->end &&
			memmem(blob + sizeof(*object), bytes - sizeof(*object), "slow_reader", 11);
	} else if (which == SP_DEFINE_COVERAGE) {
		s->bound += bytes > 12 && memcmp(blob, "stacks\tbound", 12) == 0;
	}
}

/* Slow calls whose two innermost frames are inner and `outer`. */
static int slow_calls_by(const struct stacks *s, uint64_t outer)
{
	int calls = 0;

	for (uint32_t i = 0; i < s->slows; i++)
		for (uint32_t k = 0; k < s->known; k++)
			calls += s->ids[k] == s->slow[i] && s->depth[k] > 2 &&
				 function_of(s, s->frames[k][0]) == s->inner &&
				 function_of(s, s->frames[k][1]) == outer;
	return calls;
}

START_TEST(stacks_of_slow_calls)
{
	static struct stacks s;
	char out[128];

	victim_trace("STAGEPROF_STACKS='ipc_read>20ms'", "slow_reader", out, sizeof(out));
	ck_assert_int_eq(sscanf(out, "%" SCNx64 " %" SCNx64 " %" SCNx64, &s.inner, &s.outer_one,
				&s.outer_two),
			 3);
	trace_read(stack_note, &s);
	ck_assert_int_eq(slow_calls_by(&s, s.outer_one), 2);
	ck_assert_int_eq(slow_calls_by(&s, s.outer_two), 1);
	ck_assert_uint_eq(s.slows, 3);
	ck_assert_uint_eq(s.known, 2); /* the two calls of one place share theirs */
	ck_assert_int_ge(s.objects, 2);
	ck_assert_int_eq(s.in_objects, 1);
	ck_assert_int_eq(s.bound, 1);
}
END_TEST

START_TEST(no_stacks_unless_asked)
{
	static struct stacks s;
	char out[128];

	victim_trace("STAGEPROF_STACKS='ipc_read>20s,file_read>1ns'", "slow_reader", out,
		     sizeof(out));
	trace_read(stack_note, &s);
	ck_assert_uint_eq(s.slows + s.known, 0);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("hooks");
	TCase *c = tcase_create("hooks");

	tcase_add_checked_fixture(c, folder_make, folder_remove);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, originals_are_the_callers, 0, sizeof(foreign) / sizeof(foreign[0]));
#ifdef HOOKS_UNWINDING
	tcase_add_test(c, cancellation_and_exceptions);
#endif
	tcase_add_test(c, forks_in_handlers);
	tcase_add_test(c, stacks_of_slow_calls);
	tcase_add_test(c, no_stacks_unless_asked);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return sp_suite_run(suite());
}
