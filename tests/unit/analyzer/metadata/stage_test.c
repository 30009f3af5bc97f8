/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metadata/stage.h"
#include "tests/unit/common/suite.h"

static enum sp_fd_kind place(enum sp_file_type type, const char *path)
{
	struct sp_file_metadata facts = {.type = type};

	return sp_fd_kind_of(&facts, path, strlen(path));
}

START_TEST(python_reads_its_own_modules)
{
	static const char *const paths[] = {
		"/usr/lib/python3.11/json/__init__.py",
		"/usr/lib/python3/dist-packages/numpy/core/_multiarray.so",
		"/home/u/venv/lib/python3.12/site-packages/torch/nn/modules/conv.py",
		"/home/u/venv/lib/python3.13t/lib-dynload/_ssl.cpython-313t-x86_64-linux-gnu.so",
		"/srv/job/__pycache__/model.cpython-311.pyc",
		"/home/u/venv/pyvenv.cfg",
		"/usr/lib/python3/dist-packages/numpy-1.24.2.dist-info/METADATA",
		"/opt/conda/lib/python3.10/site-packages/distutils-precedence.pth",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ck_assert_msg(place(SP_FILE_REGULAR, paths[i]) == SP_FD_KIND_IMPORT, "%s",
			      paths[i]);
}
END_TEST

START_TEST(data_is_data_wherever_it_lies)
{
	static const char *const paths[] = {
		"/usr/lib/python3/dist-packages/sklearn/datasets/images/china.jpg",
		"/home/u/venv/lib/python3.11/site-packages/sklearn/datasets/data/iris.csv",
		"/home/u/venv/lib/python3.11/site-packages/x/weights.npy",
		"/data/code/train.py",
		"/data/lib.so",
		"/data/python/a.py",
		"/data/pythonic/a.py",
		"/data/python3.py",
		"",
		"relative.jpg",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ck_assert_msg(place(SP_FILE_REGULAR, paths[i]) == SP_FD_KIND_FILE, "%s", paths[i]);
}
END_TEST

START_TEST(a_path_of_any_bytes_is_safe)
{
	struct sp_file_metadata facts = {.type = SP_FILE_REGULAR};

	ck_assert_int_eq(sp_fd_kind_of(&facts, "/lib/python3", 12), SP_FD_KIND_FILE);
	ck_assert_int_eq(sp_fd_kind_of(&facts, "/lib/python3.11/x.py", 12), SP_FD_KIND_FILE);
	ck_assert_int_eq(sp_fd_kind_of(&facts, "\0\xFF/python3/\0.py", 15), SP_FD_KIND_IMPORT);
	facts.type = 4711;
	ck_assert_int_eq(sp_fd_kind_of(&facts, "x", 1), SP_FD_KIND_UNKNOWN);
}
END_TEST

START_TEST(reads_and_writes_go_by_place)
{
	ck_assert_int_eq(sp_stage_of(SP_EV_read, place(SP_FILE_REGULAR, "/a")), SP_STAGE_file_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_pread, place(SP_FILE_REGULAR, "/a")),
			 SP_STAGE_file_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_fread, place(SP_FILE_PIPE, "pipe:[1]")),
			 SP_STAGE_ipc_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_read, place(SP_FILE_SOCKET, "")), SP_STAGE_ipc_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_read, place(SP_FILE_ANON, "")), SP_STAGE_ipc_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_recv, place(SP_FILE_SOCKET, "")), SP_STAGE_ipc_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_read, place(SP_FILE_NET, "net:")), SP_STAGE_net_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_send, place(SP_FILE_NET, "net:")), SP_STAGE_net_write);
	ck_assert_int_eq(sp_stage_of(SP_EV_recv_copy, place(SP_FILE_NET, "")), SP_STAGE_net_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_connect, place(SP_FILE_NET, "")), SP_STAGE_net_connect);
	ck_assert_int_eq(sp_stage_of(SP_EV_connect, place(SP_FILE_SOCKET, "")),
			 SP_STAGE_ipc_connect);
	ck_assert_int_eq(sp_stage_of(SP_EV_read, place(SP_FILE_CHARACTER, "/dev/zero")),
			 SP_STAGE_device_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_read, place(SP_FILE_BLOCK, "/dev/sda")),
			 SP_STAGE_device_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_read, place(SP_FILE_PSEUDO, "/proc/stat")),
			 SP_STAGE_proc_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_read, SP_FD_KIND_UNKNOWN), SP_STAGE_unknown_read);
	ck_assert_int_eq(sp_stage_of(SP_EV_write, place(SP_FILE_REGULAR, "/a")),
			 SP_STAGE_file_write);
	ck_assert_int_eq(sp_stage_of(SP_EV_fwrite, place(SP_FILE_PIPE, "")), SP_STAGE_ipc_write);
	ck_assert_int_eq(sp_stage_of(SP_EV_write, place(SP_FILE_CHARACTER, "/dev/tty")),
			 SP_STAGE_device_write);
	ck_assert_int_eq(sp_stage_of(SP_EV_pwrite, SP_FD_KIND_UNKNOWN), SP_STAGE_unknown_write);
}
END_TEST

START_TEST(copies_go_by_direction)
{
	static const enum sp_stage stages[] = {SP_STAGE_cuda_copy_other, SP_STAGE_cuda_copy_h2d,
					       SP_STAGE_cuda_copy_d2h, SP_STAGE_cuda_copy_d2d,
					       SP_STAGE_cuda_copy_other};

	for (uint32_t i = 0; i < SP_COPY_DIRECTIONS; i++) {
		uint32_t arg = sp_cuda_arg_make(0x7f1234567890, i, SP_COPY_HOST_PINNED);

		ck_assert_int_eq(sp_stage_of(SP_EV_cuMemcpyAsync, sp_fd_kind_of_copy(arg)),
				 stages[i]);
		ck_assert_int_eq(sp_cuda_arg_host(arg), SP_COPY_HOST_PINNED);
	}
	ck_assert_int_lt(sp_fd_kind_of_copy(7), SP_FD_KINDS);
}
END_TEST

START_TEST(every_kind_and_place_has_a_stage)
{
	for (uint32_t kind = 0; kind < 70000; kind++) {
		for (int p = 0; p < SP_FD_KINDS; p++) {
			enum sp_stage stage = sp_stage_of(kind, (enum sp_fd_kind)p);

			/* a check of its own for each would take seconds */
			if (stage >= SP_STAGES ||
			    (stage == SP_STAGE_other) == !!sp_event_info(kind)->name)
				ck_abort_msg("kind %u, place %d: stage %d", kind, p, stage);
		}
	}
}
END_TEST

/* A line of classes.def or stages.def that nothing reaches. */
START_TEST(every_class_has_an_event_and_every_stage_a_class)
{
	static const char *const classes[] = {
#define SP_CLASS(name, stage, step, library) #name,
#include "trace/classes.def"
#undef SP_CLASS
	};
	bool has_event[SP_CLASSES] = {false}, has_class[SP_STAGES] = {[SP_STAGE_other] = true};

	for (uint32_t kind = 0; kind < SP_EVENT_KINDS; kind++)
		if (sp_event_info(kind)->name)
			has_event[sp_event_info(kind)->class] = true;
	for (int class = 0; class < SP_CLASSES; class ++) {
		ck_assert_msg(has_event[class], "classes.def, %s: no line of events.def names it",
			      classes[class]);
		for (int p = 0; p < SP_FD_KINDS; p++)
			has_class[sp_class_stage((enum sp_class) class, (enum sp_fd_kind)p)] = true;
	}
	for (int stage = 0; stage < SP_STAGES; stage++)
		ck_assert_msg(has_class[stage], "stages.def, %s: no line of classes.def names it",
			      sp_stage_name((enum sp_stage)stage));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stage");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, python_reads_its_own_modules);
	tcase_add_test(tests, data_is_data_wherever_it_lies);
	tcase_add_test(tests, a_path_of_any_bytes_is_safe);
	tcase_add_test(tests, reads_and_writes_go_by_place);
	tcase_add_test(tests, copies_go_by_direction);
	tcase_add_test(tests, every_kind_and_place_has_a_stage);
	tcase_add_test(tests, every_class_has_an_event_and_every_stage_a_class);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
