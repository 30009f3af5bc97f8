/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/symbols/demangle.h"
#include "tests/unit/common/suite.h"

static char room[SP_DEMANGLED_BYTES];

static void expect(const char *name, const char *plain)
{
	size_t bytes = strlen(name);
	const char *got = sp_demangle(name, &bytes, room);

	ck_assert_uint_eq(bytes, strlen(plain));
	ck_assert_mem_eq(got, plain, bytes);
}

START_TEST(names_of_kernels)
{
	expect("_ZN2at6native3addIfEEvPT_i", "void at::native::add<float>(float*, int)");
	expect("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
	       "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
}
END_TEST

START_TEST(other_names_stay)
{
	expect("", "");
	expect("triton_poi_fused_add_0", "triton_poi_fused_add_0");
	expect("_Z", "_Z");
	expect("_ZN2at6native", "_ZN2at6native");
	expect("_Z9999999999999999999f", "_Z9999999999999999999f");
}
END_TEST

/* Each argument's type is a pair of the one before: 2^40 names. */
START_TEST(a_name_without_end_stays)
{
	static char bomb[4096];
	char number[16];

	strcpy(bomb, "_Z1f1PIiiE");
	for (int i = 0; i < 36; i++) {
		if (i)
			snprintf(number, sizeof(number), "S%c_",
				 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
		else
			strcpy(number, "S0_");
		strcat(bomb, "S_I");
		strcat(bomb, number);
		strcat(bomb, number);
		strcat(bomb, "E");
	}
	expect(bomb, bomb);
}
END_TEST

/* Depth is bounded, too. */
START_TEST(a_deep_name_stays)
{
	static char deep[4300] = "_Z1f";

	memset(deep + 4, 'P', sizeof(deep) - 6);
	deep[sizeof(deep) - 2] = 'i';
	expect(deep, deep);
}
END_TEST

START_TEST(brief_names)
{
	static const struct {
		const char *name, *brief;
	} cases[] = {
		{"_ZN2at6native3addIfEEvPT_i", "at::native::add"},
		{"_ZNK2at6Tensor4itemIfEET_v", "at::Tensor::item"},
		{"_ZZN2at6native3runEiENKUlfE_clEf", "at::native::run::{lambda#1}::operator()"},
		{"_ZN2at12_GLOBAL__N_14copyESt6vectorIiSaIiEE", "at::(anonymous namespace)::copy"},
		{"_ZlsRSoRK3Foo", "operator<<"},
		{"_ZN3FoolsIiEEvT_", "Foo::operator<<"},
		{"_ZNK3FooltERKS_", "Foo::operator<"},
		{"_ZNK3FooptEv", "Foo::operator->"},
		{"_ZN3FooC2Ei", "Foo::Foo"},
		{"_Z3fooi.cold", "foo"},
		{"_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault"},
		{"run_loop.part.0.constprop.1", "run_loop"},
		{".", "."},
		{"", ""},
		{"_ZN2at6native", "_ZN2at6native"},
	};
	char brief[SP_BRIEF_BYTES], longest[2 * SP_BRIEF_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_uint_eq(sp_demangle_brief(cases[i].name, brief), strlen(cases[i].brief));
		ck_assert_str_eq(brief, cases[i].brief);
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_uint_eq(sp_demangle_brief(longest, brief), SP_BRIEF_BYTES - 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demangle");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, names_of_kernels);
	tcase_add_test(tests, other_names_stay);
	tcase_add_test(tests, brief_names);
	tcase_add_test(tests, a_name_without_end_stays);
	tcase_add_test(tests, a_deep_name_stays);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
