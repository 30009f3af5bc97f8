/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/processor.h"

#include <stddef.h>
#include <stdint.h>

#include "preload/sys/elf_symbols.h"

#if defined(__x86_64__)
/* glibc's <sys/platform/x86.h> (manual, "X86"): by register (EAX, EBX, ECX, EDX), the features of
 * CPUID and the usable ones. */
struct leaf {
	uint32_t features[4], usable[4];
};

/* The leaves of CPUID. */
enum { LEAF_7 = 1, LEAF_80000001 = 2 };

enum { EBX = 1, ECX = 2 };

/* Bits: Intel's manual, volume 2, CPUID; AMD's, volume 3, appendix E. */
#define BMI (1u << 3) /* leaf 7, EBX */
#define AVX2 (1u << 5)
#define BMI2 (1u << 8)
#define LZCNT (1u << 5) /* leaf 0x80000001, ECX */

int sp_processor_has_avx2(void)
{
	const struct leaf *(*leaf)(unsigned) =
		(const struct leaf *(*)(unsigned))sp_symbol_after_us("__x86_get_cpuid_feature_"
								     "leaf");
	const uint32_t all = AVX2 | BMI | BMI2;

	return leaf && (leaf(LEAF_7)->usable[EBX] & all) == all &&
	       (leaf(LEAF_80000001)->usable[ECX] & LZCNT);
}
#else
int sp_processor_has_avx2(void)
{
	return 0;
}
#endif
