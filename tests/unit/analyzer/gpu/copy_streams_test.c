/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that only copy to the device, and the time in which nothing else ran. */
#include <check.h>
#include <stdlib.h>

#include "analyzer/gpu/copy_streams.h"
#include "analyzer/training/trainer.h"
#include "tests/unit/common/suite.h"
#include "trace/events.h"

enum { KERNELS = 1 << 8, COPIES = 2 << 8, BOTH = 3 << 8 };

static struct sp_gpu_span spans[] = {
	{.start_ns = 50, .end_ns = 200, .stream = 2}, /* half of it before the first step */
	{.start_ns = 150, .end_ns = 180, .stream = 1},
	{.start_ns = 300, .end_ns = 400, .stream = 3},
	{.start_ns = 350, .end_ns = 600, .stream = 2}, /* and a part after the last one */
};
static struct sp_step step = {.start_ns = 100, .end_ns = 500};
static struct sp_gpu_sums sums;

static struct sp_trainer trainer(void)
{
	return (struct sp_trainer){
		.steps = {.steps = &step, .count = 1},
		.gpu = {.spans = spans, .count = sizeof(spans) / sizeof(spans[0]), .steps = &sums},
	};
}

static void copy(struct sp_copy_streams *list, uint32_t stream, uint32_t direction)
{
	sp_copy_streams_take(list, SP_CLASS_CUDA_COPY, stream | direction);
}

START_TEST(copies_count_while_no_other_stream_runs)
{
	struct sp_copy_streams list = {.count = 0};
	struct sp_trainer t = trainer();

	sp_copy_streams_take(&list, SP_CLASS_CUDA_LAUNCH, KERNELS);
	copy(&list, COPIES, SP_COPY_TO_DEVICE);
	copy(&list, BOTH, SP_COPY_TO_DEVICE);
	sp_copy_streams_take(&list, SP_CLASS_CUDA_LAUNCH, BOTH);
	/* 100 to 150, 180 to 200, 400 to 500 */
	ck_assert_uint_eq(sp_copy_streams_alone_ns(&list, &t), 170);
}
END_TEST

START_TEST(a_stream_with_copies_to_the_host_is_another)
{
	struct sp_copy_streams list = {.count = 0};
	struct sp_trainer t = trainer();

	copy(&list, COPIES, SP_COPY_TO_DEVICE);
	copy(&list, COPIES, SP_COPY_TO_HOST);
	ck_assert_uint_eq(sp_copy_streams_alone_ns(&list, &t), 0);
}
END_TEST

START_TEST(too_many_streams_say_nothing)
{
	struct sp_copy_streams list = {.count = 0};
	struct sp_trainer t = trainer();

	copy(&list, COPIES, SP_COPY_TO_DEVICE);
	for (uint32_t i = 0; i < SP_COPY_STREAMS_MAX; i++)
		copy(&list, (i + 10) << 8, SP_COPY_TO_DEVICE);
	ck_assert_uint_eq(sp_copy_streams_alone_ns(&list, &t), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("copy_streams");
	TCase *c = tcase_create("copy_streams");

	tcase_add_test(c, copies_count_while_no_other_stream_runs);
	tcase_add_test(c, a_stream_with_copies_to_the_host_is_another);
	tcase_add_test(c, too_many_streams_say_nothing);
	suite_add_tcase(s, c);
	return sp_suite_run(s);
}
