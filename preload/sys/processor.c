/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/processor.h"

#include <stdint.h>

#include "preload/sys/elf_symbols.h"

#if defined(__x86_64__)
/* glibc's <sys/platform/x86.h> (manual, "X86"): by register (EAX, EBX, ECX, EDX), the features of
 * CPUID and the usable ones. */
struct leaf {
	uint32_t features[4], usable[4];
};

/* The leaves of CPUID. */
enum { LEAF_7 = 1, LEAF_80000001 = 2, LEAF_80000007 = 4 };

enum { EBX = 1, ECX = 2, EDX = 3 };

/* Bits: Intel's manual, volume 2, CPUID; AMD's, volume 3, appendix E. */
#define BMI (1u << 3) /* leaf 7, EBX */
#define AVX2 (1u << 5)
#define BMI2 (1u << 8)
#define LZCNT (1u << 5)		/* leaf 0x80000001, ECX */
#define INVARIANT_TSC (1u << 8) /* leaf 0x80000007, EDX */

typedef const struct leaf *leaf_function(unsigned number);

static leaf_function *leaf_find(void)
{
	return (leaf_function *)sp_symbol_after_us("__x86_get_cpuid_feature_leaf");
}

int sp_processor_has_avx2(void)
{
	leaf_function *leaf = leaf_find();
	const uint32_t all = AVX2 | BMI | BMI2;

	return leaf && (leaf(LEAF_7)->usable[EBX] & all) == all &&
	       (leaf(LEAF_80000001)->usable[ECX] & LZCNT);
}

int sp_processor_counter_is_invariant(void)
{
	leaf_function *leaf = leaf_find();

	return leaf ? (leaf(LEAF_80000007)->features[EDX] & INVARIANT_TSC) != 0 : -1;
}
#else
int sp_processor_has_avx2(void)
{
	return 0;
}

int sp_processor_counter_is_invariant(void)
{
	return -1;
}
#endif
